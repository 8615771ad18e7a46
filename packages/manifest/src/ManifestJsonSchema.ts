/**
 * JSON Schemas of the files that people write, for their editors: fields, types and bounds. What holds between fields is checked
 * when a file is loaded, and not here. Pure.
 */
import { Schema } from "effect"
import { EndpointLaunchConfig } from "./EndpointLaunchConfig.ts"
import { ExperimentManifest } from "./ExperimentManifest.ts"
import { TaskFixtureFile } from "./TaskFixtureFile.ts"

/** A JSON Schema of draft 2020-12. */
export type JsonSchemaDocument = Readonly<Record<string, unknown>>

const DRAFT = "https://json-schema.org/draft/2020-12/schema"

const documentOf = (schema: Schema.Top, title: string, description: string): JsonSchemaDocument => {
  const { definitions, schema: root } = Schema.toJsonSchemaDocument(schema, { onExcessProperty: "error" })
  return { $schema: DRAFT, title, description, ...root, $defs: definitions }
}

/** Of a manifest, of either dialect. */
export const manifestJsonSchema = (): JsonSchemaDocument =>
  documentOf(ExperimentManifest, "Manifest", "A condition: a team of agents, its prices and its budget.")

/** Of an endpoints file. */
export const endpointsJsonSchema = (): JsonSchemaDocument =>
  documentOf(EndpointLaunchConfig, "Endpoints", "How each endpoint of a manifest is reached from this machine.")

/** Of a task's fixture file. */
export const fixtureJsonSchema = (): JsonSchemaDocument =>
  documentOf(TaskFixtureFile, "Fixture", "Who else is on the relay in a task, what they say, and which channels count.")
