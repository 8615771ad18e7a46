import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv"
import type { jsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/types.js"

/** The SDK's own validator, made when a schema comes: most servers have none, and every agent of a team would wait for it. */
export const schemaValidator = (): jsonSchemaValidator => {
  let validator: AjvJsonSchemaValidator | undefined
  return {
    getValidator: (schema) => {
      validator ??= new AjvJsonSchemaValidator()
      return validator.getValidator(schema)
    }
  }
}
