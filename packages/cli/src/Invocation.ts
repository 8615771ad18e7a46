/**
 * How this command was called, for lines that are meant to be typed: `buzz-orchestra` where that is a program, else Node and
 * the file, as from a checkout.
 */
import { Context } from "effect"
import { basename, relative } from "node:path"

/** What to type before the arguments. A reference whose default is the command's name; `Main` provides what holds here. */
export const Invocation = Context.Reference<string>("@buzz-orchestra/cli/Invocation", {
  defaultValue: () => "buzz-orchestra"
})

/** From the script that Node was started with and the directory that it was started in. */
export const fromScript = (script: string | undefined, directory: string): string =>
  script === undefined || !basename(script).startsWith("bin.")
    ? "buzz-orchestra"
    : `node ${relative(directory, script)}`
