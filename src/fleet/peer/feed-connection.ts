import { isTransient } from "../../client/calls/repeat.ts"
import { reconnectDelayMs } from "../../client/connection/reconnect-policy.ts"
import { delay } from "../../lib/delay.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import { type Failure, failure } from "../../protocol/failure.ts"
import type { Output } from "../../protocol/output-chunk.ts"
import type { Caller } from "../../service/access/caller.ts"
import { noLongerGood } from "../../service/access/permission.ts"
import type { FleetNode, NodeIdentity } from "../ports.ts"
import {
  type AskFailure,
  NodeConnection,
  type NodeListener,
  unreachable,
} from "./node-connection.ts"
import { spokenFor } from "./spoken-for.ts"
import {
  type Attached,
  type AttachParams,
  type FeedOrder,
  type NodeNotice,
  recordMethods,
} from "./wire.ts"

/** Who reads a feed, across connections. */
export interface FeedReader {
  output(output: Output): void
  noticed(notice: NodeNotice): void
  /** Where to go on: behind the last that has come. */
  resumeFrom(): string
  /** Attached once more: what the other node must know of the reader is told now. */
  attachedAgain(attached: Attached): void
  /** The node has answered that it will not go on. */
  refused(failure: Failure): void
}

const reconnect = { firstDelayMs: 50, maxDelayMs: 1_000 }
/** A node that is only changing its gateway is there again in a moment. */
const reachMs = 3_000

type Opened = { connection: NodeConnection; attached: Attached }

/** The connection that a feed has for itself: if it is lost, the next goes on at the cursor. */
export class FeedConnection implements Disposable {
  readonly #node: FleetNode
  readonly #identity: NodeIdentity
  readonly #caller: Caller
  readonly #closing = new AbortController()
  #asked: AttachParams
  #current: NodeConnection | null = null
  #reader: FeedReader | null = null
  /** What came before there was a reader. */
  #early: NodeNotice[] = []

  private constructor(
    node: FleetNode,
    identity: NodeIdentity,
    caller: Caller,
    asked: AttachParams,
  ) {
    this.#node = node
    this.#identity = identity
    this.#caller = caller
    this.#asked = asked
  }

  static async open(
    node: FleetNode,
    identity: NodeIdentity,
    caller: Caller,
    asked: AttachParams,
  ): Promise<Result<{ connection: FeedConnection; attached: Attached }, Failure>> {
    const connection = new FeedConnection(node, identity, caller, asked)
    const untilMs = performance.now() + reachMs
    for (let attempt = 1; ; attempt++) {
      const opened = await connection.#attach(asked)
      if (opened.ok) return ok({ connection, attached: connection.#begin(opened.value) })
      const lost = opened.failure
      if (lost.kind === "refused") return fail(lost.failure)
      if (performance.now() >= untilMs) return fail(unreachable(node, lost.why))
      await delay(reconnectDelayMs(attempt, reconnect, Math.random()))
    }
  }

  get node(): FleetNode {
    return this.#node
  }

  /** From here on it is told what comes; what has come already, first. */
  readBy(reader: FeedReader): void {
    this.#reader = reader
    for (const notice of this.#early.splice(0)) reader.noticed(notice)
    if (this.#current === null) void this.#goOn(reader)
  }

  order(order: FeedOrder): void {
    this.#current?.order(order)
  }

  ask(method: string, params: unknown): Promise<Result<unknown, AskFailure>> {
    if (this.#current !== null) return this.#current.ask(method, params)
    return Promise.resolve(fail({ kind: "lost", sent: false, why: "the connection is lost" }))
  }

  [Symbol.dispose](): void {
    this.#closing.abort()
    const current = this.#current
    this.#current = null
    current?.[Symbol.dispose]()
  }

  async #attach(asked: AttachParams): Promise<Result<Opened, AskFailure>> {
    if (!this.#caller.isStillGood()) return fail({ kind: "refused", failure: noLongerGood })
    let own: NodeConnection | null = null
    const listener: NodeListener = {
      output: (output) => this.#reader?.output(output),
      noticed: (notice) => this.#noticed(notice),
      ended: () => {
        if (own !== null) this.#lost(own)
      },
    }
    const dialled = await NodeConnection.open(
      this.#node,
      this.#identity,
      spokenFor(this.#caller),
      listener,
    )
    if (!dialled.ok) return fail({ kind: "lost", sent: false, why: dialled.failure })
    own = dialled.value
    const answer = await own.ask("attach", asked)
    const attached = answer.ok ? recordMethods.attach.result.safeParse(answer.value) : null
    if (attached?.success === true && !own.isOver) {
      return ok({ connection: own, attached: attached.data })
    }
    own[Symbol.dispose]()
    if (!answer.ok) return answer
    if (attached?.success === true) return fail({ kind: "lost", sent: true, why: "it was cut" })
    const message = `Node ${this.#node.name} answered an attach with what cannot be read here.`
    return fail({ kind: "refused", failure: failure("INTERNAL", message) })
  }

  /** From now on it is the one id, whatever name or prefix it was asked by. */
  #begin({ connection, attached }: Opened): Attached {
    this.#current = connection
    const again = { screen: null, sizes: this.#asked.sizes || this.#asked.screen !== null }
    this.#asked = { ...this.#asked, ...again, execution_id: attached.record.id }
    return attached
  }

  #noticed(notice: NodeNotice): void {
    if (this.#reader === null) this.#early.push(notice)
    else this.#reader.noticed(notice)
  }

  #lost(connection: NodeConnection): void {
    if (this.#current !== connection) return
    this.#current = null
    if (this.#reader !== null) void this.#goOn(this.#reader)
  }

  async #goOn(reader: FeedReader): Promise<void> {
    const { signal } = this.#closing
    for (let attempt = 1; ; attempt++) {
      await delay(reconnectDelayMs(attempt, reconnect, Math.random()), signal)
      if (signal.aborted) return
      const opened = await this.#attach({ ...this.#asked, from: reader.resumeFrom() })
      if (signal.aborted) {
        if (opened.ok) opened.value.connection[Symbol.dispose]()
        return
      }
      if (opened.ok) return reader.attachedAgain(this.#begin(opened.value))
      const lost = opened.failure
      if (lost.kind === "refused" && !isTransient(lost.failure)) return reader.refused(lost.failure)
    }
  }
}
