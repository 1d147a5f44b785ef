import { preloadSchemas, type Server } from "@modelcontextprotocol/server"
import type { ServeMcp } from "../../transports/http/mcp-route.ts"
import type { McpPorts } from "../../transports/mcp/ports.ts"
import type { McpEra } from "../../transports/mcp/server.ts"
import { createMcpHttp } from "../../transports/mcp/sessions/http.ts"
import { McpSession } from "../../transports/mcp/sessions/session.ts"
import type { Speak } from "../../transports/socket/sessions.ts"

export type ExtendMcp = (server: Server, era: McpEra) => void

export type McpTransports = { speak: Speak; http: ServeMcp }

/** MCP over both WebSocket and HTTP. */
export function openMcpTransports(ports: McpPorts, extend: ExtendMcp | undefined): McpTransports {
  // Else the first client would wait for them.
  preloadSchemas()
  return {
    speak: ({ connection, caller, ...session }) =>
      new McpSession(ports, {
        ...session,
        caller: { ...caller, via: "mcp-websocket" },
        socket: connection,
        extend,
      }),
    http: createMcpHttp(ports, { extend }),
  }
}
