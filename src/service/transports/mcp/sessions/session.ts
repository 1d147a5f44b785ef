import { type JSONRPCMessage, type Server, specTypeSchemas } from "@modelcontextprotocol/server"
import { type StdioServerHandle, serveStdio } from "@modelcontextprotocol/server/stdio"
import { z } from "zod"
import { parseJson } from "../../../../lib/parse-json.ts"
import { fail, ok, type Result } from "../../../../lib/result.ts"
import { type Failure, failure } from "../../../../protocol/failure.ts"
import { errorMessage } from "../../../../protocol/json-rpc.ts"
import { idempotencyKeyMeta } from "../../../../protocol/mcp-meta-keys.ts"
import {
  type MessageRateLimiter,
  policyViolation,
  refusalOf,
  tooLarge,
} from "../../../../protocol/session-limits.ts"
import type { Caller } from "../../../access/caller.ts"
import type { Parting } from "../../../gateway/ports.ts"
import { auditRefusal } from "../audit-refusal.ts"
import type { McpPorts, McpScope } from "../ports.ts"
import { ResourceUpdates } from "../resources/resource-updates.ts"
import { readResourceUri } from "../resources/resource-uri.ts"
import { RefusedRequest } from "../resources/resources.ts"
import { createMcpServer, type McpEra } from "../server.ts"
import { type McpSocket, SocketTransport } from "./socket-transport.ts"
import {
  type ListenRequest,
  mostUpdateStreams,
  readListen,
  UpdateStreams,
} from "./update-streams.ts"

type RequestId = string | number

export type McpSessionOptions = {
  id: string
  caller: Caller
  socket: McpSocket
  rateLimiter: MessageRateLimiter
  reportGarbage: (length: number) => void
  /** It does not stop sending too fast, and is cut off. */
  flooded: () => void
  extend?: ((server: Server, era: McpEra) => void) | undefined
}

/** One MCP client's WebSocket, of either era: the first message decides. */
export class McpSession implements Disposable {
  readonly id: string
  readonly caller: Caller
  readonly #ports: McpPorts
  readonly #options: McpSessionOptions
  readonly #transport: SocketTransport
  readonly #serving: StdioServerHandle
  readonly #updates: ResourceUpdates
  readonly #listens: UpdateStreams
  readonly #pendingUpdates = new Set<string>()
  readonly #closing = new AbortController()
  readonly #replacing = new AbortController()
  /** Requests that nobody will send again if they get no answer. */
  readonly #sentOnce = new Set<RequestId>()
  #server: Server | null = null
  #era: McpEra | null = null
  #isClosed = false

  constructor(ports: McpPorts, options: McpSessionOptions) {
    this.id = options.id
    this.caller = options.caller
    this.#ports = ports
    this.#options = options
    const { reportGarbage } = options
    const settled = (id: RequestId) => {
      this.#sentOnce.delete(id)
      this.#listens.end(id)
    }
    this.#transport = new SocketTransport(options.socket, { reportGarbage, settled })
    const { caller } = options
    const signals = { closing: this.#closing.signal, replacing: this.#replacing.signal }
    const scope: McpScope = { ...ports, caller, ...signals }
    this.#updates = new ResourceUpdates(scope, (uri) => {
      this.#pendingUpdates.add(uri)
      void this.#tellUpdates()
    })
    this.#listens = new UpdateStreams(this.#updates, (uri, why) => {
      auditRefusal(scope, "subscriptions/listen", why, readResourceUri(uri)?.id)
    })
    this.#serving = serveStdio(({ era }) => this.#serverOf(scope, era), {
      transport: this.#transport,
      maxSubscriptions: mostUpdateStreams,
      onerror: (error) => ports.log.debug({ sessionId: this.id, err: error }, "mcp session error"),
    })
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Whether nothing is left to be answered. */
  get isTold(): boolean {
    return this.#transport.requestsUnderWay === 0
  }

  /** Who listens for updates is never answered, and waits for nothing. */
  hasAnswered(parting: Parting): boolean {
    if (parting === "replaced") return this.#sentOnce.size === 0
    return this.#transport.requestsUnderWay <= this.#listens.size
  }

  leave(parting: Parting): void {
    if (parting === "closed") this.#closing.abort()
    this.#replacing.abort()
  }

  async receive(text: string): Promise<void> {
    if (this.#isClosed) return
    const decision = this.#options.rateLimiter.next(performance.now())
    if (decision.kind === "flood") {
      this.#cutOff(decision.refusal)
      return
    }
    const message = readMessage(text)
    if (!message.ok) {
      this.#refuse(null, message.failure)
      return
    }
    const id = "id" in message.value ? (message.value.id ?? null) : null
    const isRequest = "method" in message.value && id !== null
    const refusal = refusalOf(decision, isRequest ? this.#transport.requestsUnderWay : 0)
    if (refusal !== null) {
      this.#refuse(id, refusal)
      return
    }
    if (isRequest && this.#transport.isUnderWay(id)) {
      this.#refuse(null, inUse(id)) // by its id, it would be the answer to the other one
      return
    }
    if (isRequest) this.#transport.begin(id)
    // Legacy clients have another way to subscribe, and are told that this one is none.
    const listen = this.#era === "legacy" ? null : readListen(message.value)
    if (isRequest && listen === null && !hasKey(message.value)) this.#sentOnce.add(id)
    if (listen === null) this.#transport.receive(message.value)
    else await this.#listen(listen)
  }

  drained(): void {
    this.#transport.drained()
    void this.#tellUpdates()
  }

  refusedTooLarge(mostBytes: number): void {
    this.#note(tooLarge(mostBytes))
  }

  [Symbol.dispose](): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#updates[Symbol.dispose]()
    this.#transport.closed()
    void this.#serving.close()
  }

  #serverOf(scope: McpScope, era: McpEra): Server {
    const { extend } = this.#options
    const server = createMcpServer(scope, { era, tellsUpdates: true, extend })
    if (era === "legacy") {
      server.setRequestHandler("resources/subscribe", async ({ method, params: { uri } }) => {
        const wanted = await this.#updates.want(uri)
        if (wanted.ok) return {}
        auditRefusal(scope, method, wanted.failure, readResourceUri(uri)?.id)
        throw new RefusedRequest(wanted.failure)
      })
      server.setRequestHandler("resources/unsubscribe", ({ params }) => {
        this.#updates.unwant(params.uri)
        return {}
      })
    }
    this.#server = server
    this.#era = era
    return server
  }

  async #listen(request: ListenRequest): Promise<void> {
    const accepted = await this.#listens.accept(request)
    if (!accepted.ok) {
      this.#transport.settle(request.id)
      this.#refuse(request.id, accepted.failure, request.method)
    } else if (accepted.value !== null) {
      this.#transport.receive(accepted.value)
    }
  }

  /** Whoever does not read is told once that something changed, however often it has. */
  async #tellUpdates(): Promise<void> {
    if (this.#transport.isFull || !this.caller.isStillGood()) return
    const uris = [...this.#pendingUpdates]
    this.#pendingUpdates.clear()
    try {
      for (const uri of uris) await this.#server?.sendResourceUpdated({ uri })
    } catch (error) {
      this.#ports.log.debug({ sessionId: this.id, err: error }, "an update could not be sent")
    }
  }

  #refuse(id: string | number | null, refusal: Failure, method = "unknown"): void {
    this.#note(refusal, method)
    this.#transport.write(errorMessage(id, refusal))
  }

  #cutOff(refusal: Failure): void {
    this.#refuse(null, refusal)
    this.#ports.log.warn({ sessionId: this.id }, "session closed: it sends too fast")
    this.#options.flooded()
    this.#options.socket.close(policyViolation, "RATE_LIMITED")
    this[Symbol.dispose]()
  }

  #note(refused: Failure, method = "unknown"): void {
    const { refusals } = this.#ports
    auditRefusal({ refusals, caller: this.caller }, method, refused)
  }
}

function hasKey(message: JSONRPCMessage): boolean {
  return WithKey.safeParse(message).success
}

const WithKey = z.looseObject({
  params: z.looseObject({ _meta: z.looseObject({ [idempotencyKeyMeta]: z.string() }) }),
})

function inUse(id: string | number): Failure {
  const shown = JSON.stringify(id).slice(0, 100)
  const message = `The id ${shown} is in use by a request in progress: choose another id.`
  return failure("INVALID_REQUEST", message)
}

function readMessage(text: string): Result<JSONRPCMessage, Failure> {
  const json = parseJson(text)
  if (!json.ok) return fail(failure("PARSE_ERROR", `The message is ${json.failure}.`))
  if (Array.isArray(json.value)) return fail(noBatches)
  const message = specTypeSchemas.JSONRPCMessage["~standard"].validate(json.value)
  if (message.issues === undefined) return ok(message.value)
  return fail(failure("INVALID_REQUEST", "The message is not a JSON-RPC 2.0 message."))
}

const noBatches = failure(
  "INVALID_REQUEST",
  "Batches are not supported: send one message per frame.",
)
