import { createMcpHandler, type Server, type ServerEvent } from "@modelcontextprotocol/server"
import type { Caller } from "../access/caller.ts"
import { listenedTo } from "./listen-request.ts"
import type { McpPorts, McpScope } from "./ports.ts"
import { ResourceUpdates } from "./resource-updates.ts"
import { createMcpServer, type McpEra } from "./server.ts"

export type McpHttpOptions = { extend?: ((server: Server, era: McpEra) => void) | undefined }

/** An answer, and what ends it before its time. */
export type McpAnswer = { response: Response; end: () => void }

export type McpHttp = (request: Request, body: unknown, caller: Caller) => Promise<McpAnswer>

const keepAliveMs = 15_000

/**
 * MCP over Streamable HTTP. Nothing is kept between two requests, of either era: there is no
 * session to lose when the gateway is started again, or to be mixed up with another client's.
 */
export function createMcpHttp(ports: McpPorts, { extend }: McpHttpOptions = {}): McpHttp {
  return async (request, parsedBody, caller) => {
    const scope: McpScope = { ...ports, caller }
    // The SDK's listeners hear of everything that is published: so each caller has its own.
    const bus = new CallersBus(scope, listenedTo(parsedBody)?.uris ?? [])
    const handler = createMcpHandler(
      ({ era }) => createMcpServer(scope, { era, tellsUpdates: era === "modern", extend }),
      {
        bus,
        keepAliveMs,
        onerror: (error) => ports.log.debug({ err: error }, "mcp request error"),
      },
    )
    const response = await handler.fetch(request, { parsedBody })
    return { response, end: () => void handler.close() }
  }
}

/** Tells what has changed of the resources one request asked for, for as long as it listens. */
class CallersBus {
  readonly #scope: McpScope
  readonly #uris: readonly string[]

  constructor(scope: McpScope, uris: readonly string[]) {
    this.#scope = scope
    this.#uris = uris
  }

  publish(): void {
    // Everything that is told comes from the executions themselves.
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    const { caller, log } = this.#scope
    const updates = new ResourceUpdates(this.#scope, (uri) => {
      if (caller.isStillGood()) listener({ kind: "resource_updated", uri })
    })
    for (const uri of this.#uris) {
      updates.want(uri).catch((error: unknown) => {
        log.error({ err: error }, "a subscription failed")
      })
    }
    return () => updates[Symbol.dispose]()
  }
}
