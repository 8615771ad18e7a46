/**
 * The list that a model keeps for itself, for the `todo` tool. It lives as long as the server.
 */
import { Effect, Ref, Schema } from "effect"

const MAX_ITEMS = 50
const MAX_TEXT = 200

const Item = Schema.Struct({
  text: Schema.String.pipe(Schema.check(Schema.isMinLength(1), Schema.isMaxLength(MAX_TEXT))),
  done: Schema.optionalKey(Schema.Boolean)
})

/** Arguments of the tool: the whole list as it is from now on, or nothing to read it. */
export const TodoArguments = Schema.Struct({
  todos: Schema.optionalKey(Schema.Array(Item).pipe(Schema.check(Schema.isMaxLength(MAX_ITEMS))))
})
export type TodoArguments = typeof TodoArguments.Type

/** The tool, over an empty list. */
export const make = Effect.gen(function* () {
  const list = yield* Ref.make<ReadonlyArray<typeof Item.Type>>([])
  return Effect.fn("TodoTool.run")(function* ({ todos }: TodoArguments) {
    if (todos !== undefined) yield* Ref.set(list, todos)
    return render(yield* Ref.get(list))
  })
})

const render = (items: ReadonlyArray<typeof Item.Type>): string => {
  if (items.length === 0) return "The list is empty."
  const done = items.filter((item) => item.done === true).length
  return [
    `${done} of ${items.length} done`,
    ...items.map((item) => `[${item.done === true ? "x" : " "}] ${item.text}`)
  ].join("\n")
}
