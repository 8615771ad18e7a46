/**
 * What the server tells a model about its tools: names, purpose, arguments. The names are the real server's. Pure.
 */
import type { Tool } from "@modelcontextprotocol/sdk/types.js"
import { DEFAULT_LIMIT } from "./FileLines.ts"
import { DEFAULT_TIMEOUT_MILLIS } from "./ShellTool.ts"

const WORKDIR = { type: "string", description: "Default: the working directory of the session." }

/** All of them, in the order in which they are listed. */
export const TOOLS: Array<Tool> = [
  {
    name: "shell",
    description: "Runs a bash command and returns its output and exit code as JSON.",
    inputSchema: {
      type: "object",
      properties: {
        command: { type: "string" },
        workdir: WORKDIR,
        timeout_ms: { type: "integer", minimum: 1, maximum: 600_000, default: DEFAULT_TIMEOUT_MILLIS }
      },
      required: ["command"],
      additionalProperties: false
    }
  },
  {
    name: "read_file",
    description: "Reads a text file with numbered lines.",
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string" },
        offset: { type: "integer", minimum: 0, description: "First line, from 0." },
        limit: { type: "integer", minimum: 0, default: DEFAULT_LIMIT },
        workdir: WORKDIR
      },
      required: ["path"],
      additionalProperties: false
    }
  },
  {
    name: "str_replace",
    description: "Replaces a text in a file that exists and returns a unified diff. Other files are made by the shell.",
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string" },
        old_str: { type: "string", description: "Must occur exactly once, unless replace_all is set." },
        new_str: { type: "string" },
        replace_all: { type: "boolean", default: false },
        workdir: WORKDIR
      },
      required: ["path", "old_str", "new_str"],
      additionalProperties: false
    }
  },
  {
    name: "todo",
    description: "Sets your list of things to do when `todos` is given, and returns it.",
    inputSchema: {
      type: "object",
      properties: {
        todos: {
          type: "array",
          maxItems: 50,
          items: {
            type: "object",
            properties: { text: { type: "string", minLength: 1, maxLength: 200 }, done: { type: "boolean" } },
            required: ["text"],
            additionalProperties: false
          }
        }
      },
      additionalProperties: false
    }
  }
]
