// @module-tag thorough
import { assert, layer } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { Context, Effect, FileSystem, Layer, Schema } from "effect"
import * as Programs from "./programs.ts"

const ShellAnswer = Schema.fromJsonString(
  Schema.Struct({
    duration_ms: Schema.Finite,
    exit_code: Schema.Int,
    notes: Schema.Array(Schema.String),
    stderr: Schema.String,
    stderr_artifact: Schema.NullOr(Schema.String),
    stderr_truncated: Schema.Boolean,
    stdout: Schema.String,
    stdout_artifact: Schema.NullOr(Schema.String),
    stdout_truncated: Schema.Boolean,
    timed_out: Schema.Boolean
  })
)

const CallAnswer = Schema.Struct({
  content: Schema.Tuple([Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })]),
  isError: Schema.optionalKey(Schema.Boolean)
})

const server = (env: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const cwd = yield* fileSystem.makeTempDirectoryScoped({ prefix: "dev-mcp-test-" })
    const command = yield* Programs.programPath("buzz-dev-mcp")
    const transport = new StdioClientTransport({ command, cwd, env: { ...Programs.BASE_ENVIRONMENT, ...env } })
    const client = yield* Effect.acquireRelease(
      Effect.promise(async () => {
        const client = new Client({ name: "test", version: "0" })
        await client.connect(transport)
        return client
      }),
      (client) => Effect.promise(() => client.close())
    )
    const call = (name: string, args: Record<string, unknown>) =>
      Effect.flatMap(
        Effect.promise(() => client.callTool({ name, arguments: args })),
        Schema.decodeUnknownEffect(CallAnswer)
      )
    const shell = (command: string, options: Record<string, unknown> = {}) =>
      Effect.flatMap(call("shell", { command, ...options }), ({ content: [{ text }] }) =>
        Schema.decodeEffect(ShellAnswer)(text)
      )
    return { cwd, client, call, shell, pid: () => transport.pid }
  })

/** The server of the tests that need none of their own. */
class Server extends Context.Service<Server, Effect.Success<ReturnType<typeof server>>>()("test/Server") {
  static readonly layer = Layer.effect(Server, server())
}

const TestLayer = Layer.provideMerge(Server.layer, Programs.layer)

layer(TestLayer, { excludeTestServices: true, timeout: "30 seconds" })("buzz-dev-mcp", (it) => {
  it.effect(
    "offers exactly its tools",
    () =>
      Effect.gen(function* () {
        const { client } = yield* Server
        const { tools } = yield* Effect.promise(() => client.listTools())
        assert.deepStrictEqual(
          tools.map((tool) => tool.name),
          ["shell", "read_file", "str_replace", "todo"]
        )
        assert.strictEqual(client.getServerVersion()?.name, "buzz-dev-mcp")
        assert.include(client.getInstructions(), "buzz")
      }),
    Programs.SLOW
  )

  it.effect(
    "runs a command in its working directory and keeps streams and exit code apart",
    () =>
      Effect.gen(function* () {
        const { cwd, shell } = yield* Server
        const answer = yield* shell("pwd; echo oops >&2; exit 3")
        assert.strictEqual(answer.stdout, `${cwd}\n`)
        assert.strictEqual(answer.stderr, "oops\n")
        assert.strictEqual(answer.exit_code, 3)
        assert.isFalse(answer.timed_out)
        const killed = yield* shell("kill -9 $$")
        assert.strictEqual(killed.exit_code, -1)
      }),
    Programs.SLOW
  )

  it.effect(
    "ends a command at its time limit, and what it left in the background",
    () =>
      Effect.gen(function* () {
        const { shell } = yield* Server
        const timedOut = yield* shell("trap '' TERM; sleep 60", { timeout_ms: 200 })
        assert.strictEqual(timedOut.exit_code, 124)
        assert.isTrue(timedOut.timed_out)
        const background = yield* shell("sleep 60 & echo $!")
        assert.strictEqual(background.exit_code, 0)
        assert.isTrue(yield* Programs.gone(Number(background.stdout)))
      }),
    Programs.SLOW
  )

  it.effect(
    "does not wait for a process that left the group with the pipe in its hand",
    () =>
      Effect.gen(function* () {
        const { shell } = yield* Server
        const answer = yield* shell("setsid sleep 3 & echo started", { timeout_ms: 60_000 })
        assert.strictEqual(answer.stdout, "started\n")
        assert.isBelow(answer.duration_ms, 2000)
      }),
    Programs.SLOW
  )

  it.effect(
    "shows the tail of long output and keeps the whole in a file",
    () =>
      Effect.gen(function* () {
        const { shell } = yield* Server
        const answer = yield* shell("seq 1 3000")
        assert.isTrue(answer.stdout_truncated)
        assert.match(answer.stdout, /^\[truncated: 13893 bytes, 3000 lines/)
        assert.match(answer.stdout, /\n3000\n$/)
        const count = yield* shell(`wc -l < ${answer.stdout_artifact}`)
        assert.strictEqual(count.stdout.trim(), "3000")
      }),
    Programs.SLOW
  )

  it.effect(
    "reads files with numbered lines and refuses what is not there as a tool error",
    () =>
      Effect.gen(function* () {
        const { call, shell } = yield* Server
        yield* shell("printf 'one\\ntwo\\n' > a.txt")
        const read = yield* call("read_file", { path: "a.txt", offset: 1 })
        assert.strictEqual(read.content[0].text, "a.txt (lines 2-2 of 2)\n2:two")
        const missing = yield* call("read_file", { path: "none.txt" })
        assert.isTrue(missing.isError)
        assert.include(missing.content[0].text, "cannot read none.txt")
        const wrong = yield* call("shell", { comand: "true" })
        assert.isTrue(wrong.isError)
        assert.include(wrong.content[0].text, "comand")
      }),
    Programs.SLOW
  )

  it.effect(
    "edits a file where it is, keeping its mode, also behind a link, and leaves nothing else behind",
    () =>
      Effect.gen(function* () {
        const { call, shell } = yield* Server
        yield* shell(
          "mkdir edit && cd edit && printf 'one\\ntwo\\nthree\\n' > real && chmod 750 real && ln -s real link"
        )
        const args = { path: "link", old_str: "two", new_str: "2", workdir: "edit" }
        const edited = yield* call("str_replace", args)
        assert.strictEqual(edited.content[0].text, "--- a/link\n+++ b/link\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three")
        const after = yield* shell("cat real; stat -c %a real; ls; printf '\\377' > binary", { workdir: "edit" })
        assert.strictEqual(after.stdout, "one\n2\nthree\n750\nlink\nreal\n")
        for (const [change, text] of [
          [{}, "cannot edit link: old_str not found in link"],
          [{ path: "none" }, "cannot edit none: "],
          [{ path: "binary", old_str: "x" }, "not a text in UTF-8"],
          [{ new_str: "x".repeat(1_048_577) }, "new_str exceeds 1048576 bytes"]
        ] as const) {
          const refused = yield* call("str_replace", { ...args, ...change })
          assert.isTrue(refused.isError)
          assert.include(refused.content[0].text, text)
        }
      }),
    Programs.SLOW
  )

  it.effect(
    "keeps a list of things to do, and takes no other fields",
    () =>
      Effect.gen(function* () {
        const { call } = yield* Server
        const todo = (args: Record<string, unknown>) =>
          Effect.map(call("todo", args), ({ content: [{ text }], isError }) =>
            isError === true ? `error: ${text}` : text
          )
        assert.strictEqual(yield* todo({}), "The list is empty.")
        const list = "1 of 2 done\n[x] read\n[ ] write"
        assert.strictEqual(yield* todo({ todos: [{ text: "read", done: true }, { text: "write" }] }), list)
        for (const todos of [
          [{ text: "" }],
          [{ text: "x".repeat(201) }],
          [{ text: "x", priority: 1 }],
          Array.from({ length: 51 }, () => ({ text: "x" }))
        ])
          assert.match(yield* todo({ todos }), /^error: /)
        assert.strictEqual(yield* todo({}), list)
      }),
    Programs.SLOW
  )

  it.effect(
    "puts its own buzz first on PATH, keeps the git key from commands, and ends with its stdin and all that it started",
    () =>
      Effect.gen(function* () {
        const { client, cwd, pid, shell } = yield* server({
          NOSTR_PRIVATE_KEY: "git-key",
          BUZZ_RELAY_URL: "ws://127.0.0.1:1"
        })
        const answer = yield* shell('command -v buzz; echo "[$NOSTR_PRIVATE_KEY]"; buzz users get')
        const [path = "", key] = answer.stdout.split("\n")
        assert.match(path, /\/buzz-dev-mcp-[^/]+\/buzz$/)
        assert.strictEqual(key, "[]")
        // No private key is set: the same refusal as the buzz program's.
        assert.strictEqual(answer.exit_code, 3)
        assert.include(answer.stderr, "BUZZ_PRIVATE_KEY is required")

        const serverPid = pid()
        assert.isNotNull(serverPid)
        void client.callTool({ name: "shell", arguments: { command: "echo $$ > pid; sleep 60" } }).catch(() => {})
        const fileSystem = yield* FileSystem.FileSystem
        const commandPid = yield* fileSystem
          .readFileString(`${cwd}/pid`)
          .pipe(
            Effect.match({ onFailure: () => 0, onSuccess: Number }),
            Effect.delay("20 millis"),
            Effect.repeat({ until: (value) => value > 0, times: 500 })
          )
        yield* Effect.promise(() => client.close())
        assert.isTrue(yield* Programs.gone(serverPid ?? 0))
        assert.isTrue(yield* Programs.gone(commandPid))
        assert.isFalse(yield* fileSystem.exists(path))
      }),
    Programs.SLOW
  )
})
