import type { Server } from "@modelcontextprotocol/server"
import { z } from "zod"
import { MessageRateLimiter } from "../../src/protocol/session-limits.ts"
import { createMcpServer, type McpEra } from "../../src/service/transports/mcp/server.ts"
import { McpSession } from "../../src/service/transports/mcp/sessions/session.ts"
import { scopeAround } from "../service/transports/mcp/staged-scope.ts"
import { localUser } from "./callers.ts"
import { legacyOperations } from "./scoped-mcp-operations.ts"
import { StagedExecution } from "./staged-execution.ts"

/** What a server of ours has an answer to, as its SDK keeps it. */
export async function handledMethods(era: McpEra): Promise<string[]> {
  using execution = new StagedExecution()
  const ports = scopeAround(execution)
  if (era === "modern") return keysOf(createMcpServer(ports, { era, tellsUpdates: true }))
  let made: Server | null = null
  using session = new McpSession(ports, {
    id: "s",
    caller: localUser,
    socket: { send: () => 1, close: () => undefined },
    rateLimiter: new MessageRateLimiter(100, performance.now()),
    reportGarbage: () => undefined,
    flooded: () => undefined,
    extend: (server) => {
      made = server
    },
  })
  const [initialize] = legacyOperations
  const params = initialize?.request({ id: "", word: "" }).params
  await session.receive(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }))
  if (made === null) throw new Error("no server was made")
  return keysOf(made)
}

function keysOf(server: Server): string[] {
  const handlers: unknown = Reflect.get(server, "_requestHandlers")
  if (!(handlers instanceof Map)) throw new Error("the SDK keeps its handlers elsewhere")
  return [...handlers.keys()].map(String)
}

/** What a property may be, by its schema. */
export function valuesOf(schema: z.ZodType, property: string): string[] {
  const found = new Set<string>()
  JSON.stringify(z.toJSONSchema(schema, { io: "input" }), (name, value) => {
    if (name === property && value?.enum !== undefined) {
      for (const one of value.enum) found.add(one)
    }
    if (name === property && typeof value?.const === "string") found.add(value.const)
    return value
  })
  return [...found].toSorted()
}
