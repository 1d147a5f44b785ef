import type { ServeMcp } from "../../transports/http/mcp-route.ts"
import type { McpPorts } from "../../transports/mcp/ports.ts"
import type { Speak } from "../../transports/socket/sessions.ts"
import type { ExtendMcp, McpTransports } from "./mcp-transports.ts"

/**
 * MCP, loaded when the first client asks for it: with the SDK a gateway is 14 MB larger, and needs
 * thirty milliseconds more to start. Whoever knows that a client will come has it loaded before.
 */
export function serveMcp(ports: McpPorts, extend: ExtendMcp | undefined) {
  let transports: Promise<McpTransports> | null = null
  const load = () => (transports ??= loadTransports(ports, extend))
  const http: ServeMcp = async (...asked) => (await load()).http(...asked)
  return {
    http,
    speak: async (): Promise<Speak> => (await load()).speak,
    preload: async (): Promise<void> => void (await load()),
  }
}

async function loadTransports(
  ports: McpPorts,
  extend: ExtendMcp | undefined,
): Promise<McpTransports> {
  const { openMcpTransports } = await import("./mcp-transports.ts")
  return openMcpTransports(ports, extend)
}
