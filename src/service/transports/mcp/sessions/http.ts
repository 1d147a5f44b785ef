import {
  createMcpHandler,
  isLegacyRequest,
  type Server,
  type ServerEvent,
} from "@modelcontextprotocol/server"
import { z } from "zod"
import { errorMessage } from "../../../../protocol/json-rpc.ts"
import type { Caller } from "../../../access/caller.ts"
import { auditRefusal } from "../audit-refusal.ts"
import type { McpPorts, McpScope } from "../ports.ts"
import { ResourceUpdates } from "../resources/resource-updates.ts"
import { readResourceUri } from "../resources/resource-uri.ts"
import { createMcpServer, type McpEra } from "../server.ts"
import {
  eventIdOf,
  type ResumableRequest,
  requestOf,
  resumableRequest,
  withEventIds,
} from "./resumption.ts"
import {
  type ListenRequest,
  listenOnlyTo,
  readListen,
  tooMuchIn,
  urisOf,
} from "./update-streams.ts"

export type McpHttpOptions = { extend?: ((server: Server, era: McpEra) => void) | undefined }

/** What is under way is ended by the request's signal, and what only waits by `closing`. */
export type McpHttp = (
  request: Request,
  body: unknown,
  caller: Caller,
  closing: AbortSignal,
) => Promise<Response>

const keepAliveMs = 15_000
/** Clients go on with a call at the next gateway by themselves: see resumption.ts. */
const never = new AbortController().signal

/**
 * MCP over Streamable HTTP. Nothing is kept between two requests, of either era: there is no
 * session to lose when the gateway is started again, or to be mixed up with another client's.
 */
export function createMcpHttp(ports: McpPorts, { extend }: McpHttpOptions = {}): McpHttp {
  return async (request, body, caller, closing) => {
    const scope: McpScope = { ...ports, caller, closing, replacing: never }
    const eventId = request.method === "GET" ? request.headers.get("last-event-id") : null
    const again = eventId === null ? null : requestOf(eventId)
    return again === null
      ? answer(request, body, resumableRequest(body), scope, "auto")
      : answer(repeated(request, again), again, again, scope, "sse") // what was begun as a stream
  }

  async function answer(
    request: Request,
    body: unknown,
    resumable: ResumableRequest | null,
    scope: McpScope,
    responseMode: "auto" | "sse",
  ): Promise<Response> {
    // The SDK's listeners hear of everything that is published: so each caller has its own.
    using bus = new CallersBus(scope)
    const listen = await readModernListen(request, body)
    const tooMuch = listen === null ? null : tooMuchIn(listen)
    if (listen !== null && tooMuch !== null) {
      auditRefusal(scope, listen.method, tooMuch)
      const refused = errorMessage(listen.id, tooMuch)
      return new Response(refused, { status: 400, headers: { "Content-Type": "application/json" } })
    }
    const narrowed = listen === null ? null : listenOnlyTo(listen, await bus.want(urisOf(listen)))
    const handler = createMcpHandler(
      ({ era }) => createMcpServer(scope, { era, tellsUpdates: era === "modern", extend }),
      {
        bus,
        keepAliveMs,
        responseMode,
        onerror: (error) => ports.log.debug({ err: error }, "mcp request error"),
      },
    )
    const response = await handler.fetch(request, {
      parsedBody: resumable ?? narrowed ?? body,
    })
    return resumable === null ? response : withIds(request, response, resumable)
  }
}

/** To a legacy request the SDK says that there is no such method. */
async function readModernListen(request: Request, body: unknown): Promise<ListenRequest | null> {
  const listen = readListen(body)
  return listen === null || (await isLegacyRequest(request, body)) ? null : listen
}

/** Clients before it take an event without data for a mistake. */
const firstWithEmptyEvents = "2025-11-25"

/** A stream that can be gone on with says so with its events. */
function withIds(request: Request, response: Response, resumable: ResumableRequest): Response {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
  const eventId = isStream ? eventIdOf(resumable) : null
  if (eventId === null || response.body === null) return response
  const { status, headers } = response
  const beginsEmpty = request.headers.get("mcp-protocol-version") === firstWithEmptyEvents
  return new Response(withEventIds(response.body, eventId, beginsEmpty), { status, headers })
}

/** As it was asked the first time; whoever goes on with it waits for the same answer. */
function repeated(resuming: Request, { method, params }: ResumableRequest): Request {
  const headers = new Headers(resuming.headers)
  headers.set("Content-Type", "application/json")
  headers.set("Accept", "application/json, text/event-stream")
  headers.set("Mcp-Method", method)
  headers.set("Mcp-Name", params.name)
  const { signal, url } = resuming
  const version = Versioned.safeParse(params._meta).data?.[
    "io.modelcontextprotocol/protocolVersion"
  ]
  if (version !== undefined) headers.set("MCP-Protocol-Version", version)
  return new Request(url, { method: "POST", headers, signal, body: "{}" })
}

const Versioned = z.looseObject({ "io.modelcontextprotocol/protocolVersion": z.string() })

/** Tells what has changed of the resources one request asked for, for as long as it listens. */
class CallersBus implements Disposable {
  readonly #scope: McpScope
  readonly #updates: ResourceUpdates
  readonly #pendingUpdates = new Set<string>()
  #listener: ((event: ServerEvent) => void) | null = null

  constructor(scope: McpScope) {
    this.#scope = scope
    this.#updates = new ResourceUpdates(scope, (uri) => this.#tell(uri))
  }

  /** Those of the resources that can be subscribed to. */
  async want(uris: readonly string[]): Promise<string[]> {
    const wanted: string[] = []
    for (const uri of new Set(uris)) {
      const answer = await this.#updates.want(uri)
      if (answer.ok) wanted.push(uri)
      else auditRefusal(this.#scope, listenMethod, answer.failure, readResourceUri(uri)?.id)
    }
    return wanted
  }

  publish(): void {
    // Everything that is told comes from the executions themselves.
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    this.#listener = listener
    for (const uri of this.#pendingUpdates) this.#tell(uri)
    this.#pendingUpdates.clear()
    return () => this.#updates[Symbol.dispose]()
  }

  /** The request has its answer: who has not subscribed by now does not any more. */
  [Symbol.dispose](): void {
    if (this.#listener === null) this.#updates[Symbol.dispose]()
  }

  #tell(uri: string): void {
    if (!this.#scope.caller.isStillGood()) return
    if (this.#listener === null) this.#pendingUpdates.add(uri)
    else this.#listener({ kind: "resource_updated", uri })
  }
}

const listenMethod = "subscriptions/listen"
