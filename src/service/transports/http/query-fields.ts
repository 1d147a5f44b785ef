import { z } from "zod"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { Labels } from "../../../protocol/execute.ts"
import { failure } from "../../../protocol/failure.ts"
import type { HttpFailure } from "./answer.ts"
import { parse } from "./request.ts"

/** A field of a JSON schema as it stands in a query, where everything is text. */
export function numberInQuery<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((text) => (isDigits(text) ? Number(text) : text), schema)
}

export function booleanInQuery<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((text) => booleans.get(text) ?? text, schema)
}

export const labelsInQuery = z
  .preprocess((one) => (typeof one === "string" ? [one] : one), z.array(z.string()).optional())
  .describe("`key:value`, repeatable: only executions that have all of these labels")

/** Undefined when none is asked for. */
export function readLabels(pairs: string[] | undefined): Result<Labels | undefined, HttpFailure> {
  if (pairs === undefined) return ok(undefined)
  const entries = pairs.map((pair): [string, string] => {
    const colon = pair.indexOf(":")
    return [pair.slice(0, Math.max(colon, 0)), pair.slice(colon + 1)]
  })
  if (new Set(entries.map(([key]) => key)).size < entries.length) {
    return fail(failure("INVALID_PARAMS", "A label has one value: use each key only once."))
  }
  if (entries.some(([key]) => key === "")) {
    return fail(failure("INVALID_PARAMS", "A label must have the form `key:value`."))
  }
  return parse(Labels, Object.fromEntries(entries))
}

const booleans = new Map<unknown, boolean>([
  ["true", true],
  ["false", false],
])

function isDigits(text: unknown): boolean {
  return typeof text === "string" && /^\d{1,16}$/.test(text)
}
