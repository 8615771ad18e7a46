import type { ManifestOperation, ManifestReason } from "@buzz-orchestra/manifest/ManifestError"
import type { Renderings } from "./rendering.ts"

/** The reasons of the manifest package say what is wrong and what to do in one sentence. */
const sentence = (reason: { readonly message: string }, next: string) => ({ line: reason.message, next })

const document = (reason: { readonly message: string }) =>
  sentence(reason, "correct the file, then try it with: buzz-orchestra manifest check FILE")

const artifact = (reason: { readonly message: string }) =>
  sentence(reason, "artifact paths are relative to the manifest's directory unless --artifact-root says otherwise")

const roster = (reason: { readonly message: string }) =>
  sentence(reason, "the agents of a trial are those of the manifest's roster, numbered from 1")

const CORRECT_ENDPOINTS = "correct the endpoints file; it names exactly the endpoints of the manifest"

/** For anything that is wrong with a file that is no manifest: its fields fail with the same reasons as a manifest's. */
export const NEXT_OF_FILES: Partial<Record<ManifestOperation, string>> = {
  "load endpoints": CORRECT_ENDPOINTS,
  "load fixture": "correct the fixture file; buzz-orchestra manifest schema fixture prints what may stand in it"
}

const endpoints = (reason: { readonly message: string }) => sentence(reason, CORRECT_ENDPOINTS)

export const manifestRenderings: Renderings<ManifestReason> = {
  ManifestUnreadable: (reason) => sentence(reason, "give the path of a manifest in YAML or JSON"),
  DocumentTooLarge: document,
  TextNotUnicode: document,
  CharacterRefused: document,
  YamlSyntaxInvalid: document,
  SeveralDocuments: document,
  RootNotMapping: document,
  DuplicateKey: document,
  KeyNotText: document,
  NumberNotFinite: document,
  TagRefused: document,
  ScalarInvalid: document,
  MergeRefused: document,
  NestingTooDeep: document,
  ExpansionTooLarge: document,
  ValueNotDocument: document,
  FieldUnknown: document,
  FieldMissing: document,
  FieldInvalid: document,
  DialectsMixed: document,
  ClassIdRepeated: document,
  OrchestratorNotSingle: document,
  PriceMissing: document,
  ConcurrencyAboveCount: document,
  OutputFillsWindow: document,
  CompactionNeverFires: document,
  GooseModeInvalid: document,
  ArtifactUnreadable: artifact,
  ArtifactMismatch: artifact,
  AgentIdMalformed: roster,
  AgentClassUnknown: roster,
  AgentKindMismatch: roster,
  AgentRepeated: roster,
  AgentsMissing: roster,
  AgentsUnexpected: roster,
  IdentityOverridden: endpoints,
  EndpointUnknown: endpoints,
  EndpointMissing: endpoints
}
