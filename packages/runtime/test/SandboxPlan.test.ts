import { assert, describe, it } from "@effect/vitest"
import { layoutAt } from "@buzz-orchestra/runtime/Layout"
import {
  bwrapArguments,
  nodeBeside,
  planSandbox,
  type SandboxHost,
  unshareScript
} from "@buzz-orchestra/runtime/SandboxPlan"
import { parseUser, setprivUser } from "../src/internal/sandboxUser.ts"

const host: SandboxHost = {
  system: [
    { path: "/usr", linksTo: undefined },
    { path: "/bin", linksTo: "usr/bin" },
    { path: "/etc", linksTo: undefined }
  ],
  configuration: [{ source: "/run/real/resolv.conf", path: "/run/systemd/resolve/stub-resolv.conf" }],
  privileged: true
}

const mount = (source: string, target: string, isFile: boolean) => ({ source, target, readOnly: true, isFile })

const plan = planSandbox(host, {
  workDirectory: "/app",
  mounts: [mount("/x/node", "/opt/buzz/bin/node", true), mount("/x/opt", "/opt/buzz", false)]
})

const at = (path: string) => plan.entries.findIndex((entry) => entry.path === path)

describe("nodeBeside", () => {
  it("puts a Node where the scripts of the stack look for one, read-only", () => {
    assert.deepStrictEqual(nodeBeside("/usr/bin/node"), {
      source: "/usr/bin/node",
      target: "/opt/buzz/bin/node",
      readOnly: true
    })
    assert.strictEqual(nodeBeside("/usr/bin/node", layoutAt("/srv/buzz")).target, "/srv/buzz/bin/node")
  })
})

describe("planSandbox", () => {
  it("shares the system read-only and nothing else of the host", () => {
    const binds = plan.entries.filter((entry) => entry._tag === "Bind")
    assert.deepStrictEqual(
      binds.map(({ path, readOnly }) => [path, readOnly]),
      [
        ["/usr", true],
        ["/etc", true],
        ["/run/systemd/resolve/stub-resolv.conf", true],
        ["/opt/buzz", true],
        ["/opt/buzz/bin/node", true]
      ]
    )
    assert.deepStrictEqual(plan.entries[at("/bin")], { _tag: "Link", path: "/bin", to: "usr/bin" })
  })

  it("makes every entry after what it lies in", () => {
    plan.entries.forEach((entry, index) => {
      const parent = entry.path.slice(0, entry.path.lastIndexOf("/"))
      if (parent === "" || at(parent) === -1) return
      const lastParent = plan.entries.findLastIndex(({ path }) => path === parent)
      assert.isBelow(
        plan.entries.findIndex(({ path }) => path === parent),
        index,
        entry.path
      )
      if (entry._tag === "Bind") assert.isBelow(lastParent, index, entry.path)
    })
    assert.isBelow(at("/run/systemd"), at("/run/systemd/resolve"))
    assert.isAbove(at("/opt/buzz/bin"), -1)
  })

  it("makes no directories inside what it shares", () => {
    const { entries } = planSandbox(host, { workDirectory: "/app", mounts: [mount("/x", "/usr/local/deep/x", true)] })
    assert.isFalse(entries.some(({ path }) => path === "/usr/local" || path === "/usr/local/deep"))
  })
})

describe("bwrapArguments", () => {
  it("asks for a user namespace only where there is no privilege to do without", () => {
    assert.notInclude(bwrapArguments(plan), "--unshare-user")
    assert.include(bwrapArguments({ ...plan, privileged: false }), "--unshare-user")
  })

  it("ties the sandbox's life to the caller's", () => {
    assert.includeMembers([...bwrapArguments(plan)], ["--die-with-parent", "--unshare-pid"])
  })
})

describe("unshareScript", () => {
  it("quotes paths whatever they contain", () => {
    const odd = planSandbox(host, { workDirectory: "/it's $HOME", mounts: [] })
    assert.include(unshareScript(odd, "echo"), `mkdir -p -- 'it'\\''s $HOME'`)
  })
})

describe("parseUser", () => {
  const passwd = "root:x:0:0:root:/root:/bin/sh\nagent:x:1000:100::/home:/bin/sh\n"

  it("reads names, numbers and pairs as container engines do", () => {
    assert.deepStrictEqual(parseUser("agent", passwd), { uid: 1000, gid: 100, name: "agent" })
    assert.deepStrictEqual(parseUser("1000", passwd), { uid: 1000, gid: 100, name: "agent" })
    assert.deepStrictEqual(parseUser("1000:5", passwd), { uid: 1000, gid: 5, name: undefined })
    assert.deepStrictEqual(parseUser("4321", passwd), { uid: 4321, gid: 0, name: undefined })
    assert.strictEqual(parseUser("nobody-here", passwd), undefined)
  })

  it("drops all groups of a user that the system does not know", () => {
    assert.include(setprivUser({ uid: 4321, gid: 0, name: undefined }), "--clear-groups")
    assert.include(setprivUser({ uid: 1000, gid: 100, name: "agent" }), "--init-groups")
  })
})
