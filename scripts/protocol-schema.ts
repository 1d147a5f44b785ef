import type { z } from "zod"
import { ExecutionView } from "../src/protocol/execution-view.ts"
import { Reason, WireError, wireCodes } from "../src/protocol/failure.ts"
import { GapNotice, methods, OutputChunk } from "../src/protocol/methods.ts"
import { notifications } from "../src/protocol/notifications.ts"
import { type JsonSchema, jsonSchemas } from "../src/service/transports/http/json-schema.ts"

const prefix = "#/$defs/"

/** The native protocol as one JSON Schema: what each method takes and answers, and what is told. */
export function protocolSchema(): JsonSchema {
  const sent = new Map<z.ZodType, string>()
  const answered = new Map<z.ZodType, string>([
    [ExecutionView, "Execution"],
    [OutputChunk, "OutputChunk"],
    [GapNotice, "Gap"],
    [WireError, "Error"],
    [methods.detach.result, "Nothing"],
    [notifications["process.started"], "LifeSign"],
  ])
  const methodEntries = Object.entries(methods).map(([name, { params, result }]) => {
    const references = {
      params: reference(sent, params, `${name}.params`),
      result: reference(answered, result, `${name}.result`),
    }
    return [name, references] as const
  })
  const notificationEntries = Object.entries(notifications).map(([name, params]) => {
    return [name, { params: reference(answered, params, name) }] as const
  })
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "The native protocol of cc-executor, version 1",
    description:
      "JSON-RPC 2.0 over WebSocket. `methods` and `notifications` say where under `$defs` the " +
      "schema of each is; `errors` are the stable reasons with their codes.",
    methods: Object.fromEntries(methodEntries),
    notifications: Object.fromEntries(notificationEntries),
    errors: Object.fromEntries(Reason.options.map((reason) => [reason, wireCodes(reason)])),
    $defs: {
      ...jsonSchemas(named(sent), "input", prefix),
      ...jsonSchemas(named(answered), "output", prefix),
    },
  }
}

/** A schema that stands in several places has the name of the first. */
function reference(names: Map<z.ZodType, string>, schema: z.ZodType, name: string): JsonSchema {
  const known = names.get(schema) ?? name
  names.set(schema, known)
  return { $ref: `${prefix}${known}` }
}

function named(names: Map<z.ZodType, string>) {
  return [...names].map(([schema, name]) => ({ name, schema }))
}
