import { z } from "zod"
import { isSafeToRepeat, resultLostEarlier } from "../../client/calls/repeat.ts"
import { delay } from "../../lib/delay.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import { viewOf } from "../../protocol/execution-view.ts"
import { type Failure, failure } from "../../protocol/failure.ts"
import { type MethodName, methods, type ResultOf } from "../../protocol/methods.ts"
import type { Caller } from "../../service/access/caller.ts"
import { noLongerGood } from "../../service/access/permission.ts"
import type { FleetNode, NodeIdentity } from "../ports.ts"
import { NodeConnection, type NodeListener, unreachable } from "./node-connection.ts"
import { spokenFor } from "./spoken-for.ts"
import { type RecordMethod, recordMethods } from "./wire.ts"

/** How long a call waits for a node that may only be changing its gateway. */
const reachMs = 3_000
const tryAgainMs = 100
/** One that nobody uses is closed; there are at most so many, each for another caller. */
const idleMs = 30_000
const mostConnections = 256

export type NodeMethod = Exclude<MethodName, "attach" | "watch" | "detach" | "ack">
export type NodeResult<Name extends NodeMethod> = Name extends RecordMethod
  ? z.output<(typeof recordMethods)[Name]["result"]>
  : ResultOf<Name>

type Held = {
  connection: Promise<Result<NodeConnection, string>>
  usedAtMs: number
  underWay: number
}

/** What callers ask another node, one connection for each of them. */
export class NodeCalls implements Disposable {
  readonly #node: FleetNode
  readonly #identity: NodeIdentity
  readonly #held = new Map<string, Held>()
  readonly #closing = new AbortController()
  readonly #timer = setInterval(() => this.#closeIdle(), idleMs / 4)

  constructor(node: FleetNode, identity: NodeIdentity) {
    this.#node = node
    this.#identity = identity
  }

  /** Asks until there is an answer, as long as asking twice does no harm. */
  async ask<Name extends NodeMethod>(
    caller: Caller,
    method: Name,
    params: unknown,
  ): Promise<Result<NodeResult<Name>, Failure>> {
    if (!caller.isStillGood()) return fail(noLongerGood)
    const untilMs = performance.now() + reachMs
    let wasSent = false
    for (;;) {
      const answer = await this.#askOnce(caller, method, params)
      if (answer.ok) return readResult(method, answer.value)
      const { failure: lost } = answer
      if (lost.kind === "refused") {
        return wasSent
          ? this.#afterRepeat(caller, method, params, lost.failure)
          : fail(lost.failure)
      }
      wasSent ||= lost.sent
      if (wasSent && !isSafeToRepeat(method, params)) return fail(this.#unknown(method))
      if (performance.now() >= untilMs || this.#closing.signal.aborted) {
        return fail(isDeed(method) && wasSent ? this.#unknown(method) : this.unreachable(lost.why))
      }
      await delay(tryAgainMs, this.#closing.signal)
    }
  }

  unreachable(why: string): Failure {
    return unreachable(this.#node, why)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#closing.abort()
    for (const key of this.#held.keys()) this.#drop(key)
  }

  async #askOnce(caller: Caller, method: string, params: unknown) {
    const held = this.#hold(caller)
    held.underWay += 1
    try {
      const connection = await held.connection
      return connection.ok
        ? await connection.value.ask(method, params)
        : fail({ kind: "lost" as const, sent: false, why: connection.failure })
    } finally {
      held.underWay -= 1
      held.usedAtMs = performance.now()
    }
  }

  #hold(caller: Caller): Held {
    const asked = spokenFor(caller)
    const key = JSON.stringify(asked)
    const known = this.#held.get(key)
    if (known !== undefined) return known
    this.#makeRoom()
    const forget = () => {
      if (this.#held.get(key) === held) this.#held.delete(key)
    }
    const listener: NodeListener = { output: ignore, noticed: ignore, ended: forget }
    const connection = NodeConnection.open(this.#node, this.#identity, asked, listener)
    const held: Held = { connection, usedAtMs: performance.now(), underWay: 0 }
    this.#held.set(key, held)
    return held
  }

  #makeRoom(): void {
    if (this.#held.size < mostConnections) return
    const free = [...this.#held].filter(([, { underWay }]) => underWay === 0)
    const [oldest] = free.toSorted(([, one], [, other]) => one.usedAtMs - other.usedAtMs)
    if (oldest !== undefined) this.#drop(oldest[0])
  }

  #closeIdle(): void {
    const beforeMs = performance.now() - idleMs
    for (const [key, { underWay, usedAtMs }] of this.#held) {
      if (underWay === 0 && usedAtMs < beforeMs) this.#drop(key)
    }
  }

  #drop(key: string): void {
    const held = this.#held.get(key)
    this.#held.delete(key)
    void held?.connection.then((opened) => opened.ok && opened.value[Symbol.dispose]())
  }

  /** It may be refused because it was done the first time, and that answer was lost. */
  async #afterRepeat<Name extends NodeMethod>(
    caller: Caller,
    method: Name,
    params: unknown,
    refused: Failure,
  ): Promise<Result<NodeResult<Name>, Failure>> {
    const lost = await resultLostEarlier({ method, params }, refused, async (execution_id) => {
      const status = await this.ask(caller, "status", { execution_id })
      return status.ok ? viewOf(status.value.record) : null
    })
    return lost === undefined ? fail(refused) : readResult(method, lost)
  }

  #unknown(method: string): Failure {
    const { name } = this.#node
    const message =
      `Node ${name} was asked (${method}), and the connection broke before it answered: it may ` +
      "have been done or not. Look at the execution before you ask again."
    return failure("OUTCOME_UNKNOWN", message, { node: name })
  }
}

function ignore(): void {
  // Nothing comes unasked where only calls are made.
}

/** What changes nothing may be called undone, whether it was sent or not. */
function isDeed(method: NodeMethod): boolean {
  return deeds.has(method)
}

const deeds: ReadonlySet<string> = new Set([
  "execute",
  "control",
  "input",
  "remove",
  "agent.start",
  "agent.send",
  "agent.answer",
  "agent.interrupt",
  "agent.end",
  "agent.configure",
  "agent.take",
  "agent.drop",
  "trial.begin",
  "trial.end",
  "notify.test",
] satisfies NodeMethod[])

type Reader<Value> = {
  safeParse(json: unknown): { success: true; data: Value } | { success: false; error: z.ZodError }
}

function readResult<Name extends NodeMethod>(
  method: Name,
  json: unknown,
): Result<NodeResult<Name>, Failure> {
  const reader: Reader<NodeResult<Name>> = readers[method].result
  const read = reader.safeParse(json)
  if (read.success) return ok(read.data)
  const message = `The answer to ${method} of another node cannot be read: ${read.error.message}`
  return fail(failure("INTERNAL", message))
}

const readers: { [Name in NodeMethod]: { result: Reader<NodeResult<Name>> } } = {
  ...methods,
  ...recordMethods,
}
