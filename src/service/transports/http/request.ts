import { z } from "zod"
import { type JsonFault, parseJson } from "../../../lib/parse-json.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { checkParams, invalidParams, issuesText } from "../../../protocol/check-params.ts"
import { failure } from "../../../protocol/failure.ts"
import { methods } from "../../../protocol/methods.ts"
import type { PolicyKind } from "../../../protocol/notifications.ts"
import type { HttpFailure } from "./answer.ts"
import type { HttpContext } from "./ports.ts"

type Read<Schema extends z.ZodType> = Result<z.output<Schema>, HttpFailure>

/** The execution a path names: an id, or the beginning of one. */
export function readExecutionId(c: HttpContext): Result<string, HttpFailure> {
  const params = parse(methods.status.params, { execution_id: c.req.param("id") })
  return params.ok ? ok(params.value.execution_id) : params
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
export async function readJsonObject(
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
