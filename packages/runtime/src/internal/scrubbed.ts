/** The value with every text of it, names of fields excepted, as `scrub` returns it. Keeps the shape, so that JSON stays JSON. */
export const scrubbed = <A>(value: A, scrub: (text: string) => string): A =>
  // Nearly no document has a secret, and one look at all of it costs less than one at each text in it.
  mayHaveSecrets(JSON.stringify(value), scrub) ? (scrubbedValue(value, scrub) as A) : value

/** Whether `scrubbed` would have to look at each text of the value with this JSON. */
export const mayHaveSecrets = (json: string, scrub: (text: string) => string): boolean =>
  // A colour inside a secret is seen only where it is one, and in JSON it is written as text.
  json.includes("\\u001b") || scrub(json) !== json

const scrubbedValue = (value: unknown, scrub: (text: string) => string): unknown => {
  if (typeof value === "string") return scrub(value)
  if (Array.isArray(value)) return value.map((item) => scrubbedValue(item, scrub))
  if (value === null || typeof value !== "object") return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, scrubbedValue(field, scrub)]))
}
