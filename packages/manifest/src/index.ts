/**
 * What to run: the schemas, the reading and the identity of an experiment manifest.
 */
export * from "./ArtifactReason.ts"
export * from "./Condition.ts"
export * from "./CredentialReason.ts"
export * from "./Dialect.ts"
export * from "./DocumentReason.ts"
export * from "./EndpointLaunchConfig.ts"
export * from "./EndpointLaunchReason.ts"
export * from "./ExperimentManifest.ts"
export * from "./FieldReason.ts"
export * from "./ManifestError.ts"
export * from "./ManifestRuleReason.ts"
export * from "./ManifestService.ts"
export * from "./Position.ts"
