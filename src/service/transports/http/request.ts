import { z } from "zod"
import { type JsonFault, parseJson } from "../../../lib/parse-json.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { checkParams, invalidParams, issuesText } from "../../../protocol/check-params.ts"
import { Labels } from "../../../protocol/execute.ts"
import { failure } from "../../../protocol/failure.ts"
import { methods } from "../../../protocol/methods.ts"
import type { PolicyKind } from "../../../protocol/notifications.ts"
import type { Caller } from "../../access/caller.ts"
import { type HttpFailure, refuse } from "./answer.ts"
import type { HttpContext, RoutePorts } from "./ports.ts"

type Respond = (c: HttpContext, ports: RoutePorts, caller: Caller) => Promise<Response>
type Read<Schema extends z.ZodType> = Result<z.output<Schema>, HttpFailure>

type AboutExecution = (
  executionId: string,
  ports: RoutePorts,
  caller: Caller,
  c: HttpContext,
) => Promise<Response>

/** Responds about the execution that a path names, by an id, the beginning of one, or a name. */
export function aboutExecution(respond: AboutExecution): Respond {
  return async (c, ports, caller) => {
    const params = parse(methods.status.params, { execution_id: c.req.param("id") })
    if (!params.ok) return refuse(params.failure)
    return respond(params.value.execution_id, ports, caller, c)
  }
}

/** The parameters of a native method: its body, and the execution from the path. */
export async function readParams<Schema extends z.ZodType>(
  c: HttpContext,
  schema: Schema,
): Promise<Read<Schema>> {
  const body = await readJsonObject(c)
  if (!body.ok) return body
  return parse(schema, { ...body.value, execution_id: c.req.param("id") })
}

/** A parameter given twice arrives as an array, which only a schema that wants one accepts. */
export function readQuery<Schema extends z.ZodType>(c: HttpContext, schema: Schema): Read<Schema> {
  const entries = Object.entries(c.req.queries()).map(([name, values]) => {
    const [only, second] = values
    return [name, second === undefined ? only : values] as const
  })
  return parse(schema, Object.fromEntries(entries))
}

export function parse<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  policy: PolicyKind = "everything",
): Read<Schema> {
  const params = checkParams(schema, value)
  if (params.ok) return params
  const issues = params.failure
  return fail(invalidParams(`Invalid parameters: ${issuesText(issues)}.`, issues, policy))
}

const JsonObject = z.record(z.string(), z.unknown())

/** No body at all is an empty object: where every field is optional, nothing needs to be sent. */
async function readJsonObject(
  c: HttpContext,
): Promise<Result<Record<string, unknown>, HttpFailure>> {
  const bytes = await c.req.arrayBuffer()
  if (bytes.byteLength === 0) return ok({})
  if (!/^application\/(?:[\w.+-]+\+)?json$/.test(mediaType(c))) return fail(notJson)
  const value = readJson(bytes)
  if (!value.ok) return fail(failure("PARSE_ERROR", `The body is ${value.failure}.`))
  const object = JsonObject.safeParse(value.value)
  if (object.success) return ok(object.data)
  return fail(failure("INVALID_PARAMS", "The body is not a JSON object."))
}

/** The same, with the idempotency key that a header may give instead. */
export async function readKeyedBody(
  c: HttpContext,
): Promise<Result<Record<string, unknown>, HttpFailure>> {
  const body = await readJsonObject(c)
  if (!body.ok) return body
  const key = c.req.header("idempotency-key")
  const keyInBody = body.value["idempotency_key"]
  if (key !== undefined && keyInBody !== undefined && key !== keyInBody) {
    const message = "Idempotency-Key and `idempotency_key` differ: use only one."
    return fail(failure("INVALID_PARAMS", message))
  }
  return ok(key === undefined ? body.value : { ...body.value, idempotency_key: key })
}

export function mediaType(c: HttpContext): string {
  const [type = ""] = (c.req.header("content-type") ?? "").split(";")
  return type.trim().toLowerCase()
}

// A page of another site can send a form or plain text without asking first, but not this type.
const notJson: HttpFailure = {
  ...failure("INVALID_REQUEST", "Send JSON as `Content-Type: application/json` (curl: --json)."),
  httpStatus: 415,
}

function readJson(bytes: ArrayBuffer): Result<unknown, JsonFault> {
  try {
    // Not JSON either: text whose invalid bytes would silently become U+FFFD.
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
  } catch (error) {
    if (error instanceof TypeError) return fail("not JSON")
    throw error
  }
}

/** A native method's parameters as the body of a request whose path names the execution. */
export function bodyOf(params: z.ZodObject): z.ZodObject {
  const fields = Object.entries(params.shape).filter(([name]) => name !== "execution_id")
  return z.object(Object.fromEntries(fields))
}

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
