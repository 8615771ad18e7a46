import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as DecodedDocument from "../src/DecodedDocument.ts"
import * as EndpointLaunchConfig from "../src/EndpointLaunchConfig.ts"
import type { ManifestReason } from "../src/ManifestError.ts"
import { conditionWith } from "../src/testing/TestManifest.ts"
import * as YamlDocument from "../src/YamlDocument.ts"
import { refusals } from "./support.ts"

type Read = Result.Result<EndpointLaunchConfig.EndpointLaunchConfig, ReadonlyArray<ManifestReason>>

const LAUNCH = { provider: "openai", api_key_env: "OPENAI_COMPAT_API_KEY" }

const { manifest } = conditionWith({
  roster: [
    { id: "a", endpoint: "x/one" },
    { id: "b", endpoint: "two" }
  ]
})

const readValue = (value: unknown, whole?: typeof manifest): Read =>
  Result.flatMap(DecodedDocument.fromValue(value), (document): Read =>
    EndpointLaunchConfig.fromDocument(document, whole)
  )

const readText = (text: string): Read =>
  Result.flatMap(YamlDocument.fromText(text), (document): Read => EndpointLaunchConfig.fromDocument(document))

describe("an endpoints file", () => {
  it("has a provider, the variable of the key, and further variables by endpoint", () => {
    const config = { "x/one": { ...LAUNCH, env: { OPENAI_COMPAT_BASE_URL: "http://127.0.0.1:1" } }, two: LAUNCH }
    assert.deepStrictEqual(Result.getOrThrow(readValue(config, manifest)), config)
    assert.deepStrictEqual(Result.getOrThrow(readText(JSON.stringify(config))), config)
  })

  it.each([
    [{ two: { provider: "p" } }, "FieldMissing two.api_key_env"],
    [{ two: { api_key_env: "K" } }, "FieldMissing two.provider"],
    [{ two: { ...LAUNCH, provider: "" } }, "FieldInvalid two.provider"],
    [{ two: { ...LAUNCH, api_key_env: "NOT A NAME" } }, "FieldInvalid two.api_key_env"],
    [{ two: { ...LAUNCH, key: "x" } }, "FieldUnknown two.key"],
    [{ two: { ...LAUNCH, env: { PORT: 80 } } }, "FieldInvalid two.env.PORT"],
    [{ two: { ...LAUNCH, env: { "A=B": "x" } } }, 'FieldUnknown two.env["A=B"]'],
    [{ two: { ...LAUNCH, env: null } }, "FieldInvalid two.env"],
    [{ "//": "a comment" }, 'FieldInvalid ["//"]'],
    [{ two: [] }, "FieldInvalid two"]
  ])("is strict: %j", (value, expected) => {
    assert.deepStrictEqual(refusals(readValue(value)), [expected])
  })

  it("names the line of a wrong field, and refuses an endpoint that stands twice", () => {
    const text = '{\n  "two": {\n    "provider": 3,\n    "api_key_env": "K"\n  }\n}\n'
    assert.deepStrictEqual(refusals(readText(text)), ["FieldInvalid two.provider 3:17"])
    assert.deepStrictEqual(refusals(readText('{"two": {}, "two": {}}')), ["DuplicateKey two 1:13"])
  })

  it("has exactly the endpoints of the manifest's roster", () => {
    assert.deepStrictEqual(refusals(readValue({ two: LAUNCH, three: LAUNCH }, manifest)), [
      "EndpointUnknown three",
      "EndpointMissing"
    ])
    assert.deepStrictEqual(refusals(readValue({ two: LAUNCH, three: LAUNCH })), ["accepted"])
  })

  it.each(EndpointLaunchConfig.IDENTITY_VARIABLES)("may not set %s", (key) => {
    assert.deepStrictEqual(refusals(readValue({ two: { ...LAUNCH, env: { [key]: "" } } })), [
      "IdentityOverridden two.env"
    ])
  })

  it("keeps every variable that makes up an identity from being set", () => {
    assert.sameMembers(
      [...EndpointLaunchConfig.IDENTITY_VARIABLES],
      [
        "BUZZ_RELAY_URL",
        "BUZZ_PRIVATE_KEY",
        "NOSTR_PRIVATE_KEY",
        "BUZZ_AUTH_TAG",
        "BUZZ_ACP_CHANNELS",
        "BUZZ_ACP_MCP_COMMAND",
        "BUZZ_ACP_AGENT_COMMAND",
        "BUZZ_ACP_SETUP_PAYLOAD"
      ]
    )
  })
})

describe("identityOverrides", () => {
  it("lists the identity variables that are set, and nothing for other variables or none", () => {
    const env = { BUZZ_AUTH_TAG: "", RUST_LOG: "info", BUZZ_RELAY_URL: "ws://x" }
    assert.deepStrictEqual(EndpointLaunchConfig.identityOverrides({ ...LAUNCH, env }), [
      "BUZZ_RELAY_URL",
      "BUZZ_AUTH_TAG"
    ])
    assert.deepStrictEqual(EndpointLaunchConfig.identityOverrides(LAUNCH), [])
    assert.deepStrictEqual(EndpointLaunchConfig.identityOverrides({ ...LAUNCH, env: { RUST_LOG: "info" } }), [])
  })
})
