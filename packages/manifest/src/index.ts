/**
 * What to run: the schemas, the reading and the identity of an experiment manifest.
 *
 * Modules of functions are namespaces here; packages of this repository import them by subpath instead.
 */
export * from "./ArtifactReason.ts"
export * as CanonicalForm from "./CanonicalForm.ts"
export * as CanonicalJson from "./CanonicalJson.ts"
export * as Condition from "./Condition.ts"
export * from "./CredentialReason.ts"
export * as DecodedDocument from "./DecodedDocument.ts"
export * from "./Dialect.ts"
export * as DocumentNode from "./DocumentNode.ts"
export * from "./DocumentReason.ts"
export * as EndpointLaunchConfig from "./EndpointLaunchConfig.ts"
export * from "./EndpointLaunchReason.ts"
export * from "./ExperimentManifest.ts"
export * from "./FieldPath.ts"
export * from "./FieldReason.ts"
export * from "./ManifestError.ts"
export * as ManifestFields from "./ManifestFields.ts"
export * from "./ManifestRuleReason.ts"
export * as ManifestRules from "./ManifestRules.ts"
export * from "./ManifestService.ts"
export * from "./Position.ts"
export * as Roster from "./Roster.ts"
export * as Sha256 from "./Sha256.ts"
export * as Yaml11Scalar from "./Yaml11Scalar.ts"
export * as YamlDocument from "./YamlDocument.ts"
