import { z } from "zod"
import { mcpUrl } from "./mcp-clients.ts"
import type { Service } from "./service.ts"

const tasksExtension = "io.modelcontextprotocol/tasks"

export type ModernOptions = {
  /** Whether the request says that it understands tasks. */
  tasks?: boolean
  headers?: Record<string, string>
  meta?: Record<string, unknown>
  signal?: AbortSignal
}

const Answer = z.object({
  result: z.record(z.string(), z.any()).optional(),
  error: z.object({ code: z.number(), message: z.string(), data: z.any().optional() }).optional(),
})
export type ModernAnswer = z.infer<typeof Answer> & { status: number }

/** The fields that every request of revision 2026-07-28 carries. */
export function envelope({ tasks = false, meta = {} }: ModernOptions = {}) {
  return {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "cc-executor-test", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": tasks
      ? { extensions: { [tasksExtension]: {} } }
      : {},
    ...meta,
  }
}

/** One request over HTTP, without any client: as it stands on the wire. */
export async function askModern(
  service: Service,
  method: string,
  params: Record<string, unknown>,
  options: ModernOptions = {},
): Promise<ModernAnswer> {
  const response = await sendModern(service, method, params, options)
  return { ...Answer.parse(await response.json()), status: response.status }
}

export async function sendModern(
  service: Service,
  method: string,
  params: Record<string, unknown>,
  options: ModernOptions = {},
): Promise<Response> {
  const name = params["name"] ?? params["taskId"] ?? params["uri"]
  const body = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: envelope(options) } }
  return fetch(await mcpUrl(service), {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": method,
      ...(name === undefined ? {} : { "Mcp-Name": z.string().parse(name) }),
      ...options.headers,
    },
    body: JSON.stringify(body),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  })
}
