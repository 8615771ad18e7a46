/** The archive format against the system's own `tar`, and against itself. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, FileSystem, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { existsSync } from "node:fs"
import { TAR_END, type TarEntry, tarHeader, tarPadding } from "../src/internal/tarFormat.ts"
import { feedTar, initialTar, type TarToken } from "../src/internal/tarReader.ts"
import { ALL_BYTES, between, bytesOf, cut, cuts, decode, encode, join } from "./support/bytes.ts"

interface Member {
  readonly entry: TarEntry & { readonly type: "file" | "directory" | "symlink" }
  readonly content: Uint8Array
}

const member = (type: "file" | "directory" | "symlink", path: string, more?: Partial<TarEntry> & { text?: string }) => {
  const content = encode(more?.text ?? "")
  const { text: _, ...fields } = more ?? {}
  const entry = { type, path, mode: 0o755, modified: 1_700_000_000, size: content.length, link: "", ...fields }
  return { entry: { ...entry, type }, content } satisfies Member
}

const archive = (members: ReadonlyArray<Member>): Uint8Array =>
  join([...members.flatMap(({ content, entry }) => [tarHeader(entry), content, tarPadding(content.length)]), TAR_END])

const run = (chunks: ReadonlyArray<Uint8Array>): ReadonlyArray<TarToken> => {
  let state = initialTar
  return chunks.flatMap((chunk) => {
    const [next, tokens] = feedTar(state, chunk)
    state = next
    return tokens
  })
}

/** Each entry with its content, and whether the archive ended. */
const read = (chunks: ReadonlyArray<Uint8Array>) => {
  const members: Array<{ entry: TarEntry; content: Array<number> }> = []
  let ended = false
  for (const token of run(chunks)) {
    if (token._tag === "Entry") members.push({ entry: token.entry, content: [] })
    if (token._tag === "Content") members.at(-1)?.content.push(...token.bytes)
    if (token._tag === "End") ended = true
  }
  return { members, ended }
}

const LONG = `${"deep/".repeat(30)}file with spaces`

const members: ReadonlyArray<Member> = [
  member("directory", "dir", { mode: 0o700 }),
  member("file", "dir/plain", { text: "hello\n", mode: 0o4711 }),
  member("file", LONG, { text: decode(ALL_BYTES.subarray(0, 128)) }),
  member("file", "größe und 'quotes'\nand a line break"),
  member("symlink", "link", { link: `../${LONG}` })
]

const TARS = ["tar", "busybox"].filter((name) => ["/bin", "/usr/bin"].some((d) => existsSync(`${d}/${name}`)))

const tarOf = (name: string): readonly [string, ...ReadonlyArray<string>] => (name === "tar" ? ["tar"] : [name, "tar"])

describe("tar", () => {
  it("reads back what it wrote", () => {
    const back = read([archive(members)])
    assert.isTrue(back.ended)
    assert.deepStrictEqual(
      back.members,
      members.map(({ content, entry }) => ({ entry, content: [...content] }))
    )
  })

  it.prop(
    "reads the same whatever the chunks",
    {
      contents: Arbitrary.array(bytesOf([0, 1, 0x61], 1100), { maxLength: 3 }),
      sizes: Arbitrary.array(between(1, 700), { minLength: 1, maxLength: 5 })
    },
    ({ contents, sizes }) => {
      const files = contents.map((content, n) => ({
        entry: { ...member("file", `${n}`).entry, size: content.length },
        content
      }))
      const bytes = archive(files)
      assert.deepStrictEqual(read(cut(bytes, sizes)), read([bytes]))
    },
    { arbitrary: { runs: 30 } }
  )

  it.prop(
    "says when an archive ended early",
    { at: between(0, 2000), sizes: cuts },
    ({ at, sizes }) => {
      const bytes = archive([member("file", "a", { text: "x".repeat(600) })])
      const early = bytes.subarray(0, Math.min(at, bytes.length - TAR_END.length))
      assert.isFalse(read(cut(early, sizes)).ended)
    },
    { arbitrary: { runs: 30 } }
  )

  it("writes sizes of 8 GiB and more so that it reads them back", () => {
    const size = 8 ** 11 + 12_345
    const [token] = run([tarHeader({ ...member("file", "huge").entry, size })])
    assert.strictEqual(token?._tag === "Entry" ? token.entry.size : undefined, size)
  })

  for (const name of TARS) {
    it.live(`${name} unpacks what is written here`, () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
        const folder = yield* fs.makeTempDirectoryScoped()
        const [command, ...args] = tarOf(name)
        const stdin = Stream.make(archive(members))
        const code = yield* spawner.exitCode(
          ChildProcess.make(command, [...args, "-xpf", "-", "-C", folder], { stdin, extendEnv: true })
        )
        assert.strictEqual(code as number, 0)
        for (const { content, entry } of members) {
          if (entry.type === "file") assert.deepStrictEqual(yield* fs.readFile(`${folder}/${entry.path}`), content)
        }
        assert.strictEqual((yield* fs.stat(`${folder}/dir/plain`)).mode & 0o777, 0o711)
        assert.strictEqual(yield* fs.readLink(`${folder}/link`), `../${LONG}`)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
    )

    it.live(`reads what ${name} packs, with hard links and long names`, () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
        const folder = yield* fs.makeTempDirectoryScoped()
        yield* fs.makeDirectory(`${folder}/${"deep/".repeat(30)}`, { recursive: true })
        yield* fs.writeFile(`${folder}/${LONG}`, ALL_BYTES)
        yield* fs.link(`${folder}/${LONG}`, `${folder}/zz-same`)
        yield* fs.symlink(LONG, `${folder}/link`)
        const [command, ...args] = tarOf(name)
        const packed = yield* Effect.scoped(
          Effect.gen(function* () {
            const handle = yield* spawner.spawn(
              ChildProcess.make(command, [...args, "-C", folder, "-cf", "-", "."], { extendEnv: true })
            )
            return yield* Stream.runCollect(handle.stdout)
          })
        )
        const back = read(packed)
        const paths = new Map(back.members.map(({ content, entry }) => [entry.path, { content, entry }]))
        assert.isTrue(back.ended)
        const [first, second] = [paths.get(`./${LONG}`), paths.get("./zz-same")]
        assert.deepStrictEqual([first?.entry.type, second?.entry.type].toSorted(), ["file", "hardlink"])
        const original = first?.entry.type === "file" ? first : second
        assert.deepStrictEqual(original?.content, [...ALL_BYTES])
        assert.strictEqual(paths.get("./link")?.entry.link, LONG)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
    )
  }

  it.live("reads names from pax headers", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
      const folder = yield* fs.makeTempDirectoryScoped()
      const name = `ü${"n".repeat(150)}`
      yield* fs.writeFileString(`${folder}/${name}`, "content")
      const packed = yield* Effect.scoped(
        Effect.gen(function* () {
          const args = ["--format=posix", "-C", folder, "-cf", "-", "."]
          const handle = yield* spawner.spawn(ChildProcess.make("tar", args, { extendEnv: true }))
          return yield* Stream.runCollect(handle.stdout)
        })
      )
      const file = read(packed).members.find(({ entry }) => entry.type === "file")
      assert.deepStrictEqual([file?.entry.path, file?.content], [`./${name}`, [...encode("content")]])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
