/**
 * The program `buzz-dev-mcp`: an MCP server on stdio that runs commands, reads and edits files and keeps a list. It
 * ends when stdin does.
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { CallToolRequestSchema, type CallToolResult, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { Effect, FiberSet, Schema } from "effect"
import { schemaValidator } from "../internal/schemaValidator.ts"
import * as Platform from "../Platform.ts"
import { ProgramExit } from "../Program.ts"
import * as ReadFileTool from "./ReadFileTool.ts"
import * as ShellPath from "./ShellPath.ts"
import * as ShellTool from "./ShellTool.ts"
import * as StrReplaceTool from "./StrReplaceTool.ts"
import * as TodoTool from "./TodoTool.ts"
import { TOOLS } from "./ToolList.ts"

/** Serves until stdin ends or the process is ended. */
export const buzzDevMcp: Effect.Effect<void, ProgramExit> = Effect.gen(function* () {
  const cwd = process.cwd()
  const directory = yield* ShellPath.make({ node: process.execPath, program: process.argv[1] ?? "" })
  const shell = yield* ShellTool.make({
    cwd,
    env: ShellPath.environment(process.env, directory),
    artifacts: directory
  })
  yield* serve(cwd, {
    shell: tool(ShellTool.ShellArguments, shell),
    read_file: tool(ReadFileTool.ReadFileArguments, yield* ReadFileTool.make(cwd)),
    str_replace: tool(StrReplaceTool.StrReplaceArguments, yield* StrReplaceTool.make(cwd)),
    todo: tool(TodoTool.TodoArguments, yield* TodoTool.make)
  })
}).pipe(
  Effect.scoped,
  Effect.catchTag("PlatformError", (cause) =>
    Effect.fail(new ProgramExit({ code: 1, stderr: `ERROR buzz-dev-mcp: ${cause.message}` }))
  ),
  Effect.provide(Platform.layer)
)

/** A tool as the server calls it: arguments as they came, a text for the model or an error with a text for the model. */
type Run = (args: unknown) => Effect.Effect<string, { readonly message: string }>

const tool =
  <A>(schema: Schema.Codec<A, unknown>, run: (args: A) => Effect.Effect<string, { readonly message: string }>): Run =>
  (args) =>
    Effect.flatMap(Schema.decodeUnknownEffect(schema)(args, { onExcessProperty: "error" }), run)

const serve = Effect.fnUntraced(function* (cwd: string, tools: Readonly<Record<string, Run>>) {
  // A call belongs to the server: when it ends, its commands end.
  const runPromise = yield* FiberSet.makeRuntimePromise<never, CallToolResult, never>()
  const server = new Server(
    { name: "buzz-dev-mcp", version: VERSION },
    {
      capabilities: { tools: {} },
      jsonSchemaValidator: schemaValidator(),
      instructions: `Commands run in ${cwd}. The command \`buzz\` speaks to the relay as you.`
    }
  )
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS }))
  server.setRequestHandler(CallToolRequestSchema, (request, { signal }) => {
    const run = tools[request.params.name]
    if (run === undefined) return failed(`unknown tool: ${request.params.name}`)
    const result = Effect.match(run(request.params.arguments ?? {}), {
      onSuccess: (text): CallToolResult => ({ content: [{ type: "text", text }] }),
      onFailure: (error) => failed(error.message)
    })
    return runPromise(result, { signal })
  })
  yield* Effect.callback<void>((resume) => {
    const end = () => resume(Effect.void)
    process.stdin.once("end", end).once("close", end)
    void server.connect(new StdioServerTransport())
  })
})

const failed = (text: string): CallToolResult => ({ content: [{ type: "text", text }], isError: true })

const VERSION = "0.1.0"
