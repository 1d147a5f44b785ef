import { readFileSync } from "node:fs"
import { z } from "zod"
import { watchSilence } from "../../client/connection/silence.ts"
import { messageOf } from "../../lib/errno.ts"
import { tryParseJson } from "../../lib/parse-json.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import { type Failure, failure, failureFrom, WireError } from "../../protocol/failure.ts"
import type { Output } from "../../protocol/output-chunk.ts"
import type { FleetNode, NodeIdentity } from "../ports.ts"
import { isCertificateOf } from "./certificate-name.ts"
import { FramedSocket, type FrameListener } from "./framed-socket.ts"
import { readNodeFrame } from "./node-frame.ts"
import type { SpokenFor } from "./spoken-for.ts"
import { type FeedOrder, NodeNotice, orderText } from "./wire.ts"

type DialPatience = {
  /** From the first packet to the greeting. */
  dialMs: number
  /** Silence after which the other node is asked for a sign of life, and how long it may take. */
  silenceMs: number
  answerMs: number
}

const dialPatience: DialPatience = { dialMs: 3_000, silenceMs: 5_000, answerMs: 5_000 }

export type AskFailure =
  | { kind: "refused"; failure: Failure }
  /** No answer will come; `sent` tells whether the other node may have got the question. */
  | { kind: "lost"; sent: boolean; why: string }

/** What comes unasked. */
export interface NodeListener {
  output(output: Output): void
  noticed(notice: NodeNotice): void
  ended(why: string): void
}

const closingMs = 1_000
const retryAfterS = 2
/** A page of a transcript in base64 is eleven megabytes. */
const mostAnswerBytes = 64 * 1024 * 1024

const Answer = z.object({
  id: z.int().nullable(),
  result: z.unknown().optional(),
  error: WireError.optional(),
})

type Settle = (answer: Result<unknown, AskFailure>) => void

type Dialled = Bun.Socket<NodeConnection>

/** One connection to another node, until it is gone: it speaks for one caller. */
export class NodeConnection implements FrameListener, Disposable {
  readonly #node: FleetNode
  readonly #asked: SpokenFor
  readonly #listener: NodeListener
  readonly #patience: DialPatience
  readonly #pending = new Map<number, Settle>()
  readonly #greeted = Promise.withResolvers<Result<NodeConnection, string>>()
  readonly #late: ReturnType<typeof setTimeout>
  #framed: FramedSocket | null = null
  #silence: Disposable | null = null
  #heardAtMs = performance.now()
  #lastId = 0
  /** Why the other node ends it, as it has said itself. */
  #said: string | null = null
  #isOver = false

  private constructor(
    node: FleetNode,
    asked: SpokenFor,
    listener: NodeListener,
    patience: DialPatience,
  ) {
    this.#node = node
    this.#asked = asked
    this.#listener = listener
    this.#patience = patience
    const { dialMs } = patience
    this.#late = setTimeout(() => this.#end(`it did not answer within ${dialMs} ms`), dialMs)
  }

  /** The connection once the other node has greeted, or why there is none. */
  static open(
    node: FleetNode,
    identity: NodeIdentity,
    asked: SpokenFor,
    listener: NodeListener,
    patience: DialPatience = dialPatience,
  ): Promise<Result<NodeConnection, string>> {
    const connection = new NodeConnection(node, asked, listener, patience)
    void connection.#dial(identity)
    return connection.#greeted.promise
  }

  get isOver(): boolean {
    return this.#isOver
  }

  ask(method: string, params: unknown): Promise<Result<unknown, AskFailure>> {
    if (this.#isOver || this.#framed === null) {
      return Promise.resolve(fail({ kind: "lost", sent: false, why: "the connection is closed" }))
    }
    const { promise, resolve } = Promise.withResolvers<Result<unknown, AskFailure>>()
    this.#lastId += 1
    this.#pending.set(this.#lastId, resolve)
    this.#framed.send(JSON.stringify({ jsonrpc: "2.0", id: this.#lastId, method, params }))
    return promise
  }

  order(order: FeedOrder): void {
    if (!this.#isOver) this.#framed?.send(orderText(order))
  }

  [Symbol.dispose](): void {
    this.#end("it was closed here")
  }

  // --- what the other node says -----------------------------------------------------------------

  heard(): void {
    this.#heardAtMs = performance.now()
  }

  sent(): void {
    // What is asked is little: nothing waits for room.
  }

  bytes(bytes: Uint8Array): void {
    if (this.#isOver) return
    const output = readNodeFrame(bytes)
    if (output === null) this.#end("it sent output in a form that is unknown here")
    else this.#listener.output(output)
  }

  text(text: string): void {
    if (this.#isOver) return
    const json = tryParseJson(text)
    const notice = NodeNotice.safeParse(json)
    if (notice.success) return this.#noticed(notice.data)
    const answer = Answer.safeParse(json)
    if (answer.success) return this.#answered(answer.data)
    this.#end("it sent what this node does not understand")
  }

  parted(why: string): void {
    this.#end(this.#said ?? why)
  }

  async #dial(identity: NodeIdentity): Promise<void> {
    await Promise.resolve() // whoever dials knows the connection before it can end
    try {
      const { hostname, port } = new URL(`https://${this.#node.address}`)
      const socket = await Bun.connect<NodeConnection>({
        hostname: hostname.replace(/^\[(.*)\]$/, "$1"),
        port: Number(port),
        // Whether it is authorized, and for what, is looked at in `shown`: Bun would want the name
        // of a host, and this is about the node, wherever it is.
        tls: { ...readIdentity(identity), serverName: this.#node.name, rejectUnauthorized: false },
        data: this,
        socket: handlers,
      })
      if (this.#isOver) socket.terminate()
    } catch (error) {
      this.#end(messageOf(error))
    }
  }

  /** The handshake is over. */
  shown(socket: Dialled, isDone: boolean, why: Error | null): void {
    if (this.#isOver) {
      socket.terminate()
      return
    }
    const isOfFleet = why === null ? isDone && socket.authorized : isAboutHost(why)
    if (!isOfFleet || !isCertificateOf(this.#node.name, socket.getPeerCertificate())) {
      this.#end(isOfFleet ? "another node answers there" : (why?.message ?? "TLS failed"))
      socket.terminate()
      return
    }
    this.#framed = new FramedSocket(socket, this, mostAnswerBytes)
    this.#framed.send(JSON.stringify(this.#asked))
  }

  received(bytes: Uint8Array): void {
    this.#framed?.received(bytes)
  }

  drained(): void {
    this.#framed?.drained()
  }

  closed(): void {
    this.#end(this.#said ?? "the connection was closed")
  }

  #noticed(notice: NodeNotice): void {
    if (notice.notice !== "greeting") return this.#listener.noticed(notice)
    clearTimeout(this.#late)
    const { silenceMs, answerMs } = this.#patience
    this.#silence ??= watchSilence({
      silenceMs,
      answerMs,
      heardAtMs: () => this.#heardAtMs,
      probe: () => this.#framed?.ping(),
      gone: () => this.#end(`it was silent for ${silenceMs + answerMs} ms`),
    })
    this.#greeted.resolve(ok(this))
  }

  #answered({ id, result, error }: z.infer<typeof Answer>): void {
    const refused = error === undefined ? null : failureFrom(error)
    if (id === null) {
      this.#said = refused?.message ?? null // and closes the connection
      return
    }
    const settle = this.#pending.get(id)
    this.#pending.delete(id)
    settle?.(refused === null ? ok(result) : fail({ kind: "refused", failure: refused }))
  }

  #end(why: string): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#late)
    this.#silence?.[Symbol.dispose]()
    this.#greeted.resolve(fail(why))
    for (const settle of this.#pending.values()) settle(fail({ kind: "lost", sent: true, why }))
    this.#pending.clear()
    this.#listener.ended(why)
    const framed = this.#framed
    framed?.close(1000, why)
    // One that is gone never takes the rest.
    setTimeout(() => framed?.terminate(), closingMs)
  }
}

const handlers: Bun.SocketHandler<NodeConnection> = {
  binaryType: "uint8array",
  handshake: (socket, isDone, why) => socket.data.shown(socket, isDone, why),
  data: (socket, bytes) => socket.data.received(bytes),
  drain: (socket) => socket.data.drained(),
  close: (socket) => socket.data.closed(),
  error: (socket) => socket.terminate(),
}

/** Found only when all else is well: the authority is the fleet's, and the time is right. */
function isAboutHost(why: Error): boolean {
  return "code" in why && why.code === "ERR_TLS_CERT_ALTNAME_INVALID"
}

/** Read each time: certificates are replaced while the service runs. */
function readIdentity({ cert, key, ca }: NodeIdentity) {
  const read = (path: string) => readFileSync(path, "utf8")
  return { cert: read(cert), key: read(key), ca: read(ca) }
}

/** Nothing was done: the same may be asked again. */
export function unreachable(node: FleetNode, why: string): Failure {
  const message =
    `Node ${node.name} (${node.address}) cannot be reached: ${why}. ` +
    "What it runs may go on without it. Try again, or see `cc-executor node ls`."
  return failure("FLEET_UNAVAILABLE", message, { node: node.name, retry_after: retryAfterS })
}
