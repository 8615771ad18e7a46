import { assert, describe, it } from "@effect/vitest"
import * as Redaction from "@buzz-orchestra/runtime/Redaction"
import { Redacted, Schema } from "effect"
import { stripVTControlCharacters } from "node:util"

/** Secret key and bech32 form of the NIP-19 document. */
const KEY = "67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa"
const NSEC = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"
const SIGNATURE = "0123456789abcdef".repeat(8)
const AUTH_TAG = JSON.stringify(["auth", "f".repeat(64), "", SIGNATURE])
const TOKEN = 'pa$$ "word"/+é\\x'
const SECRETS = [KEY, AUTH_TAG, TOKEN].map((secret) => Redacted.make(secret))

const redact = (text: string) => Redaction.redact(text, SECRETS)
const base64 = (text: string) => Buffer.from(text, "utf8").toString("base64")

/** The bytes in pieces that end at these positions, taken modulo their number. */
const cut = (bytes: Uint8Array, positions: ReadonlyArray<number>) => {
  const cuts = positions.map((n) => n % (bytes.length + 1)).toSorted((a, b) => a - b)
  return [...cuts, bytes.length].map((end, index) => bytes.subarray(cuts[index - 1] ?? 0, end))
}

describe("Redaction", () => {
  it.each([
    ["as it is", KEY],
    ["in upper case", KEY.toUpperCase()],
    ["as nsec", NSEC],
    ["as upper-case nsec", NSEC.toUpperCase()],
    ["as base64 of its bytes", Buffer.from(KEY, "hex").toString("base64")],
    ["as base64url of its bytes", Buffer.from(KEY, "hex").toString("base64url")],
    ["as base64 of its digits", base64(KEY)],
    ["as base64 of its nsec", base64(NSEC)]
  ])("finds a secret key %s", (_, form) => {
    const redacted = redact(`key=${form}!`)
    assert.match(redacted, /^key=\[redacted\][\w/+=-]{0,4}!$/)
  })

  it.each([
    ["in JSON", JSON.stringify({ token: TOKEN })],
    ["in JSON inside of JSON", JSON.stringify(JSON.stringify({ token: TOKEN }))],
    ["in a URL", `https://x/?token=${encodeURIComponent(TOKEN)}`],
    ["in a form", `${new URLSearchParams({ token: TOKEN })}`],
    ["percent-encoded with small digits", encodeURIComponent(TOKEN).replaceAll(/%../g, (code) => code.toLowerCase())],
    [
      "fully percent-encoded",
      TOKEN.replaceAll(/[^A-Za-z0-9]/gu, (c) =>
        encodeURIComponent(c) === c ? `%${c.codePointAt(0)?.toString(16).toUpperCase()}` : encodeURIComponent(c)
      )
    ]
  ])("finds a password %s", (_, text) => {
    const redacted = redact(text)
    assert.include(redacted, Redaction.REDACTED)
    assert.notInclude(redacted, "word")
  })

  it.each(["", "a", "ab", "user:", "Authorization "])("finds a secret inside of the base64 of %j and it", (before) => {
    for (const after of ["", "z", "zz"])
      for (const text of [base64(before + TOKEN + after), Buffer.from(before + TOKEN + after).toString("base64url")])
        assert.include(redact(text), Redaction.REDACTED)
  })

  it("finds an attestation, and its signature alone", () => {
    for (const text of [AUTH_TAG, JSON.stringify({ tag: AUTH_TAG }), `sig ${SIGNATURE}`])
      assert.notInclude(redact(text), SIGNATURE)
    assert.strictEqual(redact(`owner ${"f".repeat(64)}`), `owner ${"f".repeat(64)}`)
  })

  it("finds the longer of two secrets, one inside the other, as a whole", () => {
    const secrets = ["abcdefgh", "abcdefghij"].map((secret) => Redacted.make(secret))
    for (const order of [secrets, secrets.toReversed()])
      assert.strictEqual(Redaction.redact("x abcdefghij abcdefgh", order), "x [redacted] [redacted]")
  })

  it("finds each line of a secret that has several", () => {
    const pem = "-----BEGIN KEY-----\r\nMIIBVAIBADAN\r\nqhkiG9w0BAQEF\r\n-----END KEY-----\n"
    const redacted = Redaction.redact(`it is ${pem.replaceAll("\r", "")}`, [Redacted.make(pem)])
    assert.notMatch(redacted, /MIIB|qhki/)
  })

  it.each([
    ["sk-proj-abcdefghijklmnopqrstuvwxyz0123", "[redacted]"],
    ["sk-ant-api03-abcdefghijklmnop_qrst", "[redacted]"],
    ["dapi0123456789abcdef0123456789abcdef-2", "[redacted]"],
    ["Authorization: Bearer abc.def-ghi_jkl~mno+pqr", "Authorization: Bearer [redacted]"],
    [`unknown nsec1${"q".repeat(58)}`, "unknown [redacted]"],
    ["AIzaSyA-1234567890abcdefghijklmnopqrstu", "[redacted]"],
    ["ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted]"]
  ])("finds what has the shape of a key: %s", (text, expected) => {
    assert.strictEqual(Redaction.redact(text, []), expected)
  })

  it.each([
    "a task-force and a disk-based index of 0123456789",
    `event ${"a".repeat(64)} by ${"b".repeat(64)}`,
    "the bearer of good news",
    "sk-short"
  ])("leaves other text alone: %s", (text) => {
    assert.strictEqual(redact(text), text)
  })

  it("does not look for what is too short to be a secret", () => {
    assert.strictEqual(Redaction.redact("axa bx", [Redacted.make("x"), Redacted.make("")]), "axa bx")
  })

  it.each([
    ["in its middle", `${KEY.slice(0, 20)}\u001b[31m${KEY.slice(20)}`],
    ["at every character", [...NSEC].map((letter) => `\u001b[1;3${letter.length}m${letter}`).join("")],
    ["in its middle, a title", `${TOKEN.slice(0, 4)}\u001b]0;title\u0007${TOKEN.slice(4)}`],
    ["before it", `\u001b[2msk-0123456789abcdefghij`]
  ])("finds a secret with a colour %s", (_, text) => {
    const [before, after] = redact(`a ${text}\u001b[0m z`).split(Redaction.REDACTED)
    assert.include(["a ", "a \u001b[1;31m", "a \u001b[2m"], before)
    assert.strictEqual(after, "\u001b[0m z")
  })

  it.each([
    ["by Python", JSON.stringify(TOKEN).replaceAll("é", "\\u00e9")],
    ["by PHP", JSON.stringify(TOKEN).replaceAll("/", "\\/")],
    ["by Go", JSON.stringify("a<b>&word").replaceAll(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`)]
  ])("finds a password that is written as JSON %s", (_, text) => {
    const found = Redaction.redact(text, [...SECRETS, Redacted.make("a<b>&word")])
    assert.strictEqual(found, '"[redacted]"')
  })

  it("says what it found and where, in bytes", () => {
    const text = new TextEncoder().encode(`é ${KEY} sk-ant-0123456789abcdef Bearer 0123456789abcdef`)
    const found = Redaction.find(redactor, text)
    assert.deepStrictEqual(
      found.map(({ end, kind, start }) => [kind, start, end - start]),
      [
        ["trial-credential", 3, 64],
        ["anthropic-key", 68, 23],
        ["bearer-token", 99, 16]
      ]
    )
  })

  const redactor = Redaction.make(SECRETS)
  const encode = (text: string) => new TextEncoder().encode(text)
  const decode = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)
  const inPieces = (pieces: ReadonlyArray<Uint8Array>) => {
    let held = Redaction.NOTHING_HELD
    const shown: Array<Uint8Array> = []
    for (const piece of pieces) {
      const [next, out] = Redaction.feed(redactor, held, piece)
      held = next
      shown.push(out)
    }
    return decode(Buffer.concat([...shown, Redaction.applyBytes(redactor, held)]))
  }

  const Text = Schema.Array(
    Schema.Union([
      Schema.String,
      Schema.Literals([KEY, NSEC, TOKEN, AUTH_TAG, base64(KEY), base64(`u:${TOKEN}`), "\n", "sk-0123456789abcdefghij"]),
      Schema.Literals([KEY.slice(0, 32), KEY.slice(32), TOKEN.slice(0, 5), TOKEN.slice(5), "\u001b[31m", "Bearer "])
    ])
  )
  it.prop(
    "no secret survives, wherever the text is cut into pieces",
    { text: Text, positions: Schema.Array(Schema.Natural) },
    (given) => {
      const text = encode(given.text.join(""))
      const shown = inPieces(cut(text, given.positions))
      assert.strictEqual(shown, decode(Redaction.applyBytes(redactor, text)))
      // The slow way: what a terminal would show holds no form of any secret.
      const plain = stripVTControlCharacters(shown)
      for (const form of redactor.forms) assert.notInclude(plain, form)
    }
  )

  it.prop("leaves a text of many parts as it is but for the secrets", { text: Text }, ({ text }) => {
    const whole = text.join("\n")
    const found = Redaction.find(redactor, encode(whole))
    if (found.length === 0) assert.strictEqual(Redaction.apply(redactor, whole), whole)
    else assert.include(Redaction.apply(redactor, whole), Redaction.REDACTED)
  })

  it("shows whole lines at once, and a line without an end before it is too long", () => {
    const [kept, lines] = Redaction.feed(redactor, encode("a"), encode(`b\n${KEY}\nc`))
    assert.deepStrictEqual([decode(kept), decode(lines)], ["c", "ab\n[redacted]\n"])
    const endless = "x ".repeat(Redaction.MAX_HELD_LENGTH)
    const [held, shown] = Redaction.feed(redactor, Redaction.NOTHING_HELD, encode(endless))
    assert.isAbove(shown.length, 0)
    assert.strictEqual(decode(shown) + decode(held), endless)
  })

  it("holds back no more of a log, however long its only line is", () => {
    const piece = encode("0123456789abcdef".repeat(4096))
    for (const start of ["", "sk-"]) {
      let held: Uint8Array = encode(start)
      let longest = 0
      for (let n = 0; n < 10; n++) {
        ;[held] = Redaction.feed(redactor, held, piece)
        longest = Math.max(longest, held.buffer.byteLength)
      }
      assert.isAtMost(longest, 6 * Redaction.MAX_HELD_LENGTH)
    }
  })

  it.prop(
    "no secret survives in a line that is too long to hold",
    {
      offset: Schema.Int.check(Schema.isBetween({ minimum: -200, maximum: 200 })),
      secret: Schema.Literals([KEY, TOKEN, AUTH_TAG, NSEC])
    },
    ({ offset, secret }) => {
      // A line just too long is cut in its middle, so the secret is put around there.
      const filler = Redaction.MAX_HELD_LENGTH / 2 + offset
      const text = ".".repeat(filler) + secret + ".".repeat(Redaction.MAX_HELD_LENGTH - filler)
      const [held, shown] = Redaction.feed(redactor, Redaction.NOTHING_HELD, encode(text))
      assert.isAbove(shown.length, 0)
      const all = decode(shown) + decode(Redaction.applyBytes(redactor, held))
      assert.notInclude(all, secret)
      assert.strictEqual(all, text.replace(secret, Redaction.REDACTED))
    },
    { arbitrary: { runs: 60 } }
  )
})
