import type { z } from "zod"
import type { Reason } from "../../../protocol/failure.ts"
import type { Caller } from "../../access/caller.ts"
import type { HttpContext, RoutePorts } from "./ports.ts"

/** A route, with all that the API document says about it. */
export type Endpoint = EndpointDescription & (CallersEndpoint | OpenEndpoint)

type CallersEndpoint = {
  access: "caller"
  respond: (c: HttpContext, ports: RoutePorts, caller: Caller) => Response | Promise<Response>
}

type OpenEndpoint = {
  access: "anyone"
  /** Strangers, null, may ask; they need not be told everything. */
  respond: (
    c: HttpContext,
    ports: RoutePorts,
    caller: Caller | null,
  ) => Response | Promise<Response>
}

export type EndpointDescription = {
  method: "get" | "post" | "delete"
  /** As Hono writes it: `/executions/:id`. */
  path: string
  operationId: string
  /** It may go on for hours, and nothing follows it on the same connection. */
  streams?: boolean
  summary: string
  description?: string
  /** Every field is optional; the same schema parses the query. */
  query?: z.ZodObject<Readonly<Record<string, z.core.$ZodType>>>
  /** Request headers with a meaning here, and what it is. */
  requestHeaders?: Record<string, string>
  body?: Content
  responses: Record<number, ResponseDescription>
  /** What can be refused, besides what every route may refuse. */
  refusals: readonly Reason[]
}

export type ResponseDescription = {
  description: string
  headers?: Record<string, string>
  content?: Content
}

/** By media type. */
export type Content = Record<string, NamedSchema | "bytes" | { events: EventSchemas }>

/** Events of a stream of server-sent events, by name. */
export type EventSchemas = Record<string, NamedSchema>

/** The name is the schema's in the API document. */
export type NamedSchema = { name: string; schema: z.ZodType }

export function json(name: string, schema: z.ZodType): Content {
  return { "application/json": { name, schema } }
}
