import { z } from "zod"
import type { NamedSchema } from "./endpoint.ts"

export type JsonSchema = Record<string, unknown>

/** JSON Schemas by name, of what is sent or answered, that refer to each other with a prefix. */
export function jsonSchemas(
  named: readonly NamedSchema[],
  io: "input" | "output",
  prefix: string,
): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  for (const { name, schema } of named) registry.add(schema, { id: name })
  const { schemas } = z.toJSONSchema(registry, {
    io,
    uri: (name) => `${prefix}${name}`,
    override: (made) => simplify(made.jsonSchema),
  })
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, withoutAddress(schema)]),
  )
}

/** Of one schema, everything in place. */
export function jsonSchema(schema: z.core.$ZodType): JsonSchema {
  const override = (made: { jsonSchema: Simplified }) => simplify(made.jsonSchema)
  return withoutAddress(z.toJSONSchema(schema, { io: "output", override }))
}

/** Inside another document, a schema is found by where it stands. */
function withoutAddress(schema: JsonSchema): JsonSchema {
  const { $schema: _, $id: __, ...rest } = schema
  return rest
}

type Simplified = {
  additionalProperties?: unknown
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
}

function simplify(schema: Simplified): void {
  // Fields are added to answers as the protocol grows: a client must not be told otherwise.
  if (schema.additionalProperties === false) delete schema.additionalProperties
  // Says again, in 300 characters, what the format says.
  if (schema.format === "date-time") delete schema.pattern
  // That JavaScript's integers end somewhere is no fact about the protocol.
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
}
