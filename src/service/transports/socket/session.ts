import { setImmediate } from "node:timers/promises"
import type { Log } from "../../../lib/log.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { SerialQueue } from "../../../lib/serial-queue.ts"
import { executionAskedAbout } from "../../../protocol/audit-message.ts"
import { internalFailure } from "../../../protocol/failed-after.ts"
import type { Failure } from "../../../protocol/failure.ts"
import {
  errorMessage,
  type RpcRequest,
  readRequest,
  resultMessage,
} from "../../../protocol/json-rpc.ts"
import { isMethodName } from "../../../protocol/methods.ts"
import {
  type MessageRateLimiter,
  policyViolation,
  refusalOf,
  tooLarge,
  tryAgainLater,
} from "../../../protocol/session-limits.ts"
import type { Caller } from "../../access/caller.ts"
import type { Driver, Operations, Refusals } from "../../gateway/ports.ts"
import type { Reply, SessionScope } from "./method-answer.ts"
import { answerMethod, tooManySubscriptions } from "./session-methods.ts"
import type { Subscription } from "./subscription.ts"
import { WatchedChanges } from "./watched-changes.ts"

/** What a session needs of its WebSocket: Bun's, or a test's. */
export interface Connection {
  /** As Bun has it: > 0 sent, -1 accepted but wait for drain, 0 dropped. */
  send(message: string | Uint8Array<ArrayBuffer>): number
  ping(): void
  close(code: number, reason: string): void
  /** Without a handshake, for a peer that does not answer. */
  terminate(): void
}

export type NewSession = {
  id: string
  caller: Caller
  connection: Connection
  rateLimiter: MessageRateLimiter
  /** Text of so many characters was made and sent. */
  reportGarbage: (length: number) => void
  /** It does not stop sending too fast, and is cut off. */
  flooded: () => void
}

export type SessionOptions = NewSession & {
  operations: Operations
  log: Log
  refusals: Refusals
  /** A request was answered, or refused; the method is one of ours, or `unknown`. */
  answered: (method: string, seconds: number) => void
  /** What answers requests; without it, all that clients are answered with. */
  answer?: (session: SessionScope, method: string, params: unknown) => MethodOutcome
}

type MethodOutcome = ReturnType<typeof answerMethod>

const mostSubscriptions = 65_535

// What is left behind for the collector, in characters of text. Of a subscription: however little
// comes of it. Of a long answer, as `list` gives: it was rows and objects before it was text.
const subscriptionLength = 64 * 1024
const longAnswer = { atLeast: 64 * 1024, weight: 32 }
/** Their answers can be megabytes long, and take milliseconds to make. */
const largeReads: ReadonlySet<string> = new Set([
  "list",
  "receipt",
  "status",
  "transcript.read",
  "transcript.verify",
])

/** One client's connection: its requests, its subscriptions, its latest execution. */
export class Session implements SessionScope, Disposable {
  readonly id: string
  readonly caller: Caller
  readonly operations: Operations
  readonly subscriptions = new Map<string, Subscription>()
  latestExecution: string | null = null
  readonly #changes = new WatchedChanges(this, () =>
    this.#dismiss(tryAgainLater, "too slow to watch: list the executions again"),
  )
  readonly #standingBy = new Map<string, Driver>()
  readonly #options: SessionOptions
  #isBlocked = false
  #isClosed = false
  #isDismissed = false
  #requestsUnderWay = 0
  #lastNumber = 0
  /** A request may name "the latest" before the answer that made it the latest has come. */
  readonly #executing = new SerialQueue()
  readonly #reading = new SerialQueue()
  #room = Promise.withResolvers<void>()

  constructor(options: SessionOptions) {
    this.id = options.id
    this.caller = options.caller
    this.operations = options.operations
    this.#options = options
  }

  get isBlocked(): boolean {
    return this.#isBlocked
  }

  get isTold(): boolean {
    return this.subscriptions.size === 0
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  hasAnswered(): boolean {
    return this.#executing.unfinished === 0
  }

  leave(): void {
    // Nothing waits here for an execution: its end is told to whoever subscribed.
  }

  send(message: string | Uint8Array<ArrayBuffer>, besides = 0): void {
    if (typeof message === "string") this.#options.reportGarbage(message.length + besides)
    if (this.#isClosed || this.#options.connection.send(message) !== -1 || this.#isBlocked) return
    this.#isBlocked = true
    this.#room = Promise.withResolvers()
  }

  /** The socket has room again. */
  drained(): void {
    this.#isBlocked = false
    this.#room.resolve()
    this.#changes.drained()
    for (const [executionId, subscription] of this.subscriptions) {
      if (this.#isBlocked) return
      subscription.pump()
      // Who filled the socket is the last to be asked the next time: a flood starves nobody.
      const isStillThere = this.#isBlocked && this.subscriptions.delete(executionId)
      if (isStillThere) this.subscriptions.set(executionId, subscription)
    }
  }

  async receive(text: string): Promise<void> {
    if (this.#isClosed || this.#isDismissed) return
    const receivedMs = performance.now()
    const decision = this.#options.rateLimiter.next(receivedMs)
    if (decision.kind === "flood") {
      this.#cutOff(decision.refusal)
      return
    }
    const request = readRequest(text)
    if (!request.ok) {
      this.#noteRefusal("unknown", undefined, request.failure.failure)
      this.send(errorMessage(request.failure.id, request.failure.failure))
      return
    }
    const { id, method, params } = request.value
    const refusal = refusalOf(decision, this.#requestsUnderWay)
    if (refusal !== null) {
      this.#noteRefusal(method, params, refusal)
      if (id !== undefined) this.send(errorMessage(id, refusal))
      return
    }
    this.#requestsUnderWay += 1
    const reply = await this.#answer(request.value)
    this.#requestsUnderWay -= 1
    this.#options.answered(knownMethod(method), (performance.now() - receivedMs) / 1000)
    if (!reply.ok) this.#noteRefusal(method, params, reply.failure)
    if (this.#isClosed) {
      if (reply.ok) reply.value.abandon?.()
      return
    }
    if (id !== undefined) {
      const answer = reply.ok
        ? resultMessage(id, reply.value.result)
        : errorMessage(id, reply.failure)
      if (answer.length > longAnswer.atLeast)
        this.#options.reportGarbage(answer.length * longAnswer.weight)
      this.send(answer)
    }
    if (reply.ok) reply.value.afterwards?.()
  }

  /** A message that nobody read: the connection was closed for it. */
  refusedTooLarge(mostBytes: number): void {
    this.#noteRefusal("unknown", undefined, tooLarge(mostBytes))
  }

  watch(labels: Record<string, string> | undefined): Result<Record<string, never>, Failure> {
    return this.#isClosed ? ok({}) : this.#changes.watch(labels) // nobody would ever end it
  }

  get isFull(): boolean {
    return this.subscriptions.size >= mostSubscriptions
  }

  /** A number for binary frames that no other subscription of this session has. */
  newSubscriptionNumber(): Result<number, Failure> {
    this.#options.reportGarbage(subscriptionLength)
    if (this.isFull) return fail(tooManySubscriptions)
    const taken = new Set([...this.subscriptions.values()].map(({ number }) => number))
    do this.#lastNumber = (this.#lastNumber % mostSubscriptions) + 1
    while (taken.has(this.#lastNumber))
    return ok(this.#lastNumber)
  }

  /** A client that is only slow detaches to catch up: that must not cancel its execution. */
  detach(subscription: Subscription): void {
    this.subscriptions.delete(subscription.executionId)
    const driver = subscription.detach()
    if (driver !== null) this.#standingBy.set(subscription.executionId, driver)
  }

  takeStandBy(executionId: string): Driver | null {
    const driver = this.#standingBy.get(executionId) ?? null
    this.#standingBy.delete(executionId)
    return driver
  }

  #cutOff(refusal: Failure): void {
    this.#noteRefusal("unknown", undefined, refusal)
    this.send(errorMessage(null, refusal))
    this.#options.log.warn({ sessionId: this.id }, "session closed: it sends too fast")
    this.#options.flooded()
    this.#dismiss(policyViolation, "RATE_LIMITED")
  }

  /** What was started must not be lost with its answer: its id is known to nobody else. */
  #dismiss(code: number, reason: string): void {
    if (this.#isDismissed) return
    this.#isDismissed = true // nothing more is taken from it
    const close = () => {
      this.#options.connection.close(code, reason)
      this[Symbol.dispose]()
    }
    if (this.hasAnswered()) close()
    else void this.#executing.runAfterQueued(() => setImmediate()).then(close)
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    this.#room.resolve()
    this.#changes[Symbol.dispose]()
    for (const driver of this.#standingBy.values()) driver[Symbol.dispose]()
    this.#standingBy.clear()
    for (const subscription of this.subscriptions.values()) subscription[Symbol.dispose]()
    this.subscriptions.clear()
  }

  async #answer(request: RpcRequest): Promise<Result<Reply, Failure>> {
    const { method, params } = request
    try {
      const answer = () => (this.#options.answer ?? answerMethod)(this, method, params)
      if (method === "execute") return await this.#executing.run(answer)
      return await this.#executing.runAfterQueued(() =>
        largeReads.has(method) ? this.#reading.run(() => this.#whenTaken(answer)) : answer(),
      )
    } catch (error) {
      this.#options.log.error({ sessionId: this.id, method, err: error }, "request failed")
      const message = "The service failed to handle this request. Its log says why."
      return fail(internalFailure(message, error))
    }
  }

  #noteRefusal(method: string, params: unknown, refused: Failure): void {
    const { principal, address, via } = this.caller
    this.#options.refusals.refused({
      principal,
      address,
      via,
      method: knownMethod(method),
      failure: refused,
      executionId: executionAskedAbout(params, refused),
    })
  }

  /**
   * One at a time, others' turns in between, and none while the client does not take its answers:
   * so what a session can make wait in memory is one answer, however much it asks for.
   */
  async #whenTaken(answer: () => Promise<Result<Reply, Failure>>): Promise<Result<Reply, Failure>> {
    await setImmediate()
    if (this.#isBlocked) await this.#room.promise
    return this.#isClosed ? nobodyListens : answer()
  }
}

/** Else anybody could make up as many kinds of refusals as there are words. */
function knownMethod(method: string): string {
  return isMethodName(method) ? method : "unknown"
}

const nobodyListens = ok<Reply>({ result: null })
