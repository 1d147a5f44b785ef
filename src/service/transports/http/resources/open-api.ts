import { z } from "zod"
import { type Endpoint, json } from "../endpoint.ts"

const OpenApi = z.looseObject({ openapi: z.literal("3.1.1") })

export const getOpenApi: Endpoint = {
  method: "get",
  path: "/openapi.json",
  access: "caller",
  operationId: "openapi",
  summary: "Get this document",
  responses: { 200: { description: "OpenAPI 3.1.", content: json("OpenApi", OpenApi) } },
  refusals: [],
  respond: (_, ports) => Response.json(ports.document()),
}
