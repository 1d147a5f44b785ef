import { z } from "zod"
import { type Reason, WireError, wireCodes } from "../../../protocol/failure.ts"
import { methods } from "../../../protocol/methods.ts"
import type { Content, EndpointDescription, NamedSchema, ResponseDescription } from "./endpoint.ts"
import { type JsonSchema, jsonSchema, jsonSchemas } from "./json-schema.ts"

export type OpenApiDocument = {
  openapi: string
  info: { title: string; version: string; description: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, JsonSchema> }
}

type Operation = {
  operationId: string
  summary: string
  description?: string
  parameters: Parameter[]
  requestBody?: { content: MediaTypes }
  responses: Record<string, { description: string; headers?: Headers; content?: MediaTypes }>
}
type Parameter = {
  name: string
  in: "path" | "query" | "header"
  required: boolean
  description?: string
  schema: JsonSchema
}
type Headers = Record<string, { description: string; schema: JsonSchema }>
type MediaTypes = Record<string, { schema: JsonSchema; "x-events"?: Record<string, JsonSchema> }>

const errorBody: NamedSchema = { name: "Error", schema: z.object({ error: WireError }) }
const everywhere: readonly Reason[] = ["FORBIDDEN", "INTERNAL"]
const forCallers: readonly Reason[] = ["UNAUTHORIZED", "RATE_LIMITED"]
const prefix = "#/components/schemas/"

/** The API as OpenAPI 3.1: made from the routes themselves and the schemas they parse with. */
export function openApiDocument(
  endpoints: readonly (EndpointDescription & { access: "caller" | "anyone" })[],
  version: string,
): OpenApiDocument {
  const paths: OpenApiDocument["paths"] = {}
  for (const endpoint of endpoints) {
    const path = endpoint.path.replaceAll(/:(\w+)/g, "{$1}")
    const reasons = [
      ...endpoint.refusals,
      ...everywhere,
      ...(endpoint.access === "caller" ? forCallers : []),
    ]
    paths[path] = { ...paths[path], [endpoint.method]: operation(endpoint, reasons) }
  }
  const sent = endpoints.flatMap(({ body }) => namedIn(body))
  const answered = endpoints.flatMap(({ responses }) =>
    Object.values(responses).flatMap(({ content }) => namedIn(content)),
  )
  return {
    openapi: "3.1.1",
    info: {
      title: "cc-executor",
      version,
      description: "Runs long-lived commands and lets clients watch and control them live.",
    },
    paths,
    components: {
      schemas: {
        ...jsonSchemas(sent, "input", prefix),
        ...jsonSchemas([errorBody, ...answered], "output", prefix),
      },
    },
  }
}

function operation(endpoint: EndpointDescription, reasons: readonly Reason[]): Operation {
  const { operationId, summary, description, body } = endpoint
  return {
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    parameters: parametersOf(endpoint),
    ...(body === undefined ? {} : { requestBody: { content: mediaTypes(body) } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(endpoint.responses).map(([status, one]) => [status, response(one)]),
      ),
      ...refusals(endpoint, reasons),
    },
  }
}

function parametersOf({ path, query, requestHeaders = {} }: EndpointDescription): Parameter[] {
  return [
    ...(path.includes(":id") ? [executionId] : []),
    ...Object.entries(query?.shape ?? {}).map(([name, field]): Parameter => {
      return { name, in: "query", required: false, ...described(jsonSchema(field)) }
    }),
    ...Object.entries(requestHeaders).map(([name, description]): Parameter => {
      return { name, in: "header", required: false, description, schema: text }
    }),
  ]
}

const text = { type: "string" }
const bytes = {} // what OpenAPI 3.1 says for binary content: no constraint at all
const executionId: Parameter = {
  name: "id",
  in: "path",
  required: true,
  ...described(jsonSchema(methods.status.params.shape.execution_id)),
}

/** A parameter's description stands beside its schema. */
function described({
  description,
  ...schema
}: JsonSchema): Pick<Parameter, "description" | "schema"> {
  return typeof description === "string" ? { description, schema } : { schema }
}

function response({ description, headers = {}, content }: ResponseDescription) {
  const entries = Object.entries(headers).map(([name, meaning]) => {
    return [name, { description: meaning, schema: text }] as const
  })
  return {
    description,
    ...(entries.length === 0 ? {} : { headers: Object.fromEntries(entries) }),
    ...(content === undefined ? {} : { content: mediaTypes(content) }),
  }
}

/** One answer for each status, with the reasons that have it. */
function refusals(
  { body, responses }: EndpointDescription,
  reasons: readonly Reason[],
): Operation["responses"] {
  const byStatus = Map.groupBy(reasons, (reason) => wireCodes(reason).http)
  const entries = [...byStatus]
    .filter(([status]) => responses[status] === undefined)
    .map(([status, names]) => [status, refusal(names.join(", "))] as const)
  return { ...Object.fromEntries(entries), ...(body === undefined ? {} : bodyRefusals) }
}

const bodyRefusals = {
  413: refusal("The body is too large."),
  415: refusal("INVALID_REQUEST: the body has the wrong media type."),
}

function refusal(description: string) {
  return { description, content: { "application/json": { schema: reference(errorBody) } } }
}

function mediaTypes(content: Content): MediaTypes {
  const entries = Object.entries(content).map(([type, form]) => {
    if (form === "bytes") return [type, { schema: bytes }] as const
    if (!("events" in form)) return [type, { schema: reference(form) }] as const
    const events = Object.entries(form.events).map(([name, data]) => {
      return [name, reference(data)] as const
    })
    return [type, { schema: text, "x-events": Object.fromEntries(events) }] as const
  })
  return Object.fromEntries(entries)
}

function reference({ name }: NamedSchema): JsonSchema {
  return { $ref: `${prefix}${name}` }
}

function namedIn(content: Content = {}): NamedSchema[] {
  return Object.values(content).flatMap((form) => {
    if (form === "bytes") return []
    return "events" in form ? Object.values(form.events) : [form]
  })
}
