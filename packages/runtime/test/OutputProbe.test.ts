import { outputProbe, satisfies } from "@buzz-orchestra/runtime/OutputProbe"
import { assert, describe, it } from "@effect/vitest"

describe("OutputProbe", () => {
  it("exists for M1-hello-world only, in the environment's work directory", () => {
    assert.deepStrictEqual(outputProbe("M1-hello-world", "/app"), {
      path: "/app/hello.txt",
      expected: "Hello, world!"
    })
    assert.isUndefined(outputProbe("m1-hello-world", "/app"))
    assert.isUndefined(outputProbe("other", "/app"))
  })

  it("ignores white space around the text and nothing else", () => {
    const probe = { path: "/app/hello.txt", expected: "Hello, world!" }
    for (const text of ["Hello, world!", "Hello, world!\n", " \t\r\nHello, world!\v\f", "\u3000Hello, world!\x1c\x85"])
      assert.isTrue(satisfies(probe, text), JSON.stringify(text))
    for (const text of [
      "",
      "hello, world!",
      "Hello, world",
      "Hello,  world!",
      "Hello, world!!",
      "Hello, world!\nmore",
      "\ufeffHello, world!"
    ])
      assert.isFalse(satisfies(probe, text), JSON.stringify(text))
  })
})
