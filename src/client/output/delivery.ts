import { aborted, delay, orAborted } from "../../lib/delay.ts"
import { ignoreUnhandledRejection } from "../../lib/ignore-unhandled-rejection.ts"
import { failure, failureFrom } from "../../protocol/failure.ts"
import { completedOf } from "../../protocol/notifications.ts"
import { comesBack, isTransient, retryDelayMs } from "../calls/repeat.ts"
import { CallError, DetachedError } from "../client-error.ts"
import type { ExecutionNotice } from "../connection/incoming.ts"
import type { AskFailure, Session } from "../connection/session.ts"
import { Acknowledgements } from "./acknowledgements.ts"
import type { Attached, DeliveryOptions, DeliveryWorld, ScreenOptions } from "./delivery-options.ts"
import { type ExecutionEvent, type OutputEvent, weightOf } from "./execution-event.ts"
import { Inbox } from "./inbox.ts"

type State =
  /** Wants to be attached: there is no session, or the server has not agreed yet. */
  | { kind: "away" }
  | {
      kind: "attached"
      session: Session
      subscription: number
      acknowledgements: Acknowledgements | null
    }
  /** Detached on purpose: the queue is full, or the output cannot be had. Only the end is asked. */
  | { kind: "apart"; session: Session }
  | { kind: "over" }

/**
 * Brings one execution's output into its inbox, every byte once, across sessions. What arrives
 * while it is not attached is dropped: the cursor stands before it, so it comes again.
 */
export class Delivery {
  readonly #ready = Promise.withResolvers<void>()
  readonly executionId: string
  readonly inbox: Inbox
  /** Resolves at the first attachment, rejects when there will be none. */
  readonly ready = this.#ready.promise

  readonly #options: DeliveryOptions
  readonly #world: DeliveryWorld
  readonly #running: Promise<void>
  #state: State
  #wasAttached = false
  #tellsSizes = false
  #screen: ScreenOptions | null
  #left = new AbortController() // aborted when the state is left

  constructor(options: DeliveryOptions, world: DeliveryWorld) {
    const { executionId, pid, from, output, attached } = options
    const { queueBytes } = world.limits
    this.#options = options
    this.#world = world
    this.executionId = executionId
    this.#screen = options.screen
    this.inbox = new Inbox({ executionId, pid, from, output, queueBytes }, (event) =>
      this.#eventTaken(event),
    )
    ignoreUnhandledRejection(this.ready)
    this.#state = { kind: "away" }
    if (attached !== null) this.#attached(attached)
    if (pid !== null) this.inbox.life("started", pid)
    this.#running = this.#run().catch((error: unknown) => this.fail(error))
  }

  /** Whether binary frames with this number on this session are of this execution. */
  isSubscribed(session: Session, subscription: number): boolean {
    const state = this.#state
    return (
      state.kind === "attached" && state.session === session && state.subscription === subscription
    )
  }

  isAttachedTo(session: Session): boolean {
    return this.#state.kind === "attached" && this.#state.session === session
  }

  /** To be called only while attached to the session, or as its subscriber. */
  receiveOutput(session: Session, event: OutputEvent): void {
    this.inbox.output(event)
    this.#boundQueue(session)
  }

  receiveNotice(session: Session, notice: ExecutionNotice): void {
    if (this.isAttachedTo(session)) {
      this.#accept(session, notice)
      this.#boundQueue(session)
    } else if (notice.method === "process.completed") {
      // The event comes again behind the output that is still missing; the fact need not wait.
      this.inbox.learnEnd(notice.params)
    }
  }

  receiveUnreadable(method: string): void {
    const message = `The server sent a ${method} that this client cannot read.`
    this.fail(new CallError(failure("INTERNAL", message)))
  }

  sessionEnded(session: Session): void {
    if (this.isAttachedTo(session)) this.#enter({ kind: "away" })
  }

  /** From now on it is told how large the terminal is. */
  tellSizes(): void {
    this.#tellsSizes = true
    this.attachAgain()
  }

  /** From now on it begins with what the terminal shows, and so it does now. */
  showScreen(screen: ScreenOptions): void {
    this.#screen = screen
    this.attachAgain()
  }

  attachAgain(): void {
    if (this.#state.kind === "attached") this.#enter({ kind: "away" })
  }

  fail(error: unknown): void {
    const session = this.#state.kind === "attached" ? this.#state.session : null
    this.#ready.reject(error)
    this.inbox.fail(error)
    this.#enter({ kind: "over" })
    if (session !== null) this.#unsubscribe(session)
  }

  /** What is in the queue can still be taken; nothing is added to it. */
  async detach(): Promise<void> {
    const session = this.#state.kind === "attached" ? this.#state.session : null
    this.inbox.detach()
    this.#ready.reject(new DetachedError(this.executionId))
    this.#enter({ kind: "over" })
    await this.#running
    await session?.ask("detach", { execution_id: this.executionId })
  }

  #enter(state: State, left = new AbortController()): void {
    if (this.#state.kind === "over") return
    this.#state = state
    this.#left.abort()
    this.#left = left
    if (state.kind === "over") this.#world.over()
  }

  #boundQueue(session: Session): void {
    const isAttached = this.isAttachedTo(session)
    if (isAttached && this.inbox.queue.isFull) this.#enter({ kind: "apart", session })
  }

  #eventTaken(event: ExecutionEvent): void {
    const { queue, taken, isTakenOut } = this.inbox
    if (this.#state.kind === "attached") {
      const bytes = "next" in event ? weightOf(event) : 0
      this.#state.acknowledgements?.taken(taken, bytes, isTakenOut)
    }
    if (this.#state.kind === "apart" && queue.hasRoom && queue.isOpen) {
      this.#enter({ kind: "away" })
    }
  }

  #accept(session: Session, notice: ExecutionNotice): void {
    switch (notice.method) {
      case "process.started":
        return this.inbox.life("started", notice.params.pid)
      case "process.paused":
        return this.inbox.life("paused", notice.params.pid)
      case "process.resumed":
        return this.inbox.life("resumed", notice.params.pid)
      case "process.canceled":
        return this.inbox.life("canceled", notice.params.pid)
      case "process.resized":
        return this.inbox.resized(notice.params)
      case "process.gap":
        return this.inbox.gap(notice.params)
      case "process.completed":
        this.inbox.complete(notice.params)
        return this.#enter({ kind: "over" })
      case "process.error":
        this.inbox.failOutput(new CallError(failureFrom(notice.params.error)))
        return this.#enter({ kind: "apart", session })
    }
  }

  async #run(): Promise<void> {
    for (;;) {
      const state = this.#state
      switch (state.kind) {
        case "away":
          await this.#attach(this.#left.signal)
          break
        case "attached":
          await aborted(this.#left.signal)
          break
        case "apart":
          await this.#stayApart(state.session, this.#left.signal)
          break
        case "over":
          return
      }
    }
  }

  async #attach(left: AbortSignal): Promise<void> {
    const session = await this.#session(left)
    if (session === null) return
    if (this.inbox.pid === null && !(await this.#learnPid(session, left))) return
    const { executionId: execution_id, encoding, role } = this.#options
    const acknowledges = role === "driver"
    const screen = this.#screen
    const size = screen?.size() ?? undefined
    const params = {
      execution_id,
      from: this.inbox.received,
      encoding,
      role,
      acknowledges,
      ...(screen !== null && { screen: true, scrollback: screen.scrollback }),
      ...(this.#tellsSizes && { sizes: true }),
      ...(size !== undefined && { size }),
    }
    const answer = await session.ask("attach", params, (result) => {
      if (left.aborted) return this.#unsubscribe(session)
      const { subscription, ack_after_bytes: ackAfterBytes = null } = result
      this.#attached({ session, subscription, ackAfterBytes })
      this.inbox.attached(result.state, result.from)
      if (result.screen !== undefined) this.inbox.screen(result.screen, result.from)
    })
    if (!answer.ok) await this.#notAttached(answer.failure, left)
  }

  async #learnPid(session: Session, left: AbortSignal): Promise<boolean> {
    const status = await session.ask("status", { execution_id: this.executionId })
    if (status.ok) this.inbox.learnPid(status.value.pid)
    else await this.#notAttached(status.failure, left)
    return status.ok && !left.aborted
  }

  async #notAttached(why: AskFailure, left: AbortSignal): Promise<void> {
    if (why.kind === "lost") return
    const isFirst = this.#options.firstRefusalIsFinal && !this.#wasAttached
    const isFinal = isFirst && !comesBack(why.failure)
    if (isFinal || !isTransient(why.failure)) return this.fail(new CallError(why.failure))
    await delay(retryDelayMs(why.failure), left, this.#world.connection.closing)
  }

  /** Nobody waits for the answer: whatever it is, this delivery is over. */
  #unsubscribe(session: Session): void {
    ignoreUnhandledRejection(session.ask("detach", { execution_id: this.executionId }))
  }

  #attached({ session, subscription, ackAfterBytes }: Attached): void {
    this.#wasAttached = true
    const left = new AbortController()
    const { executionId } = this
    const acknowledgements =
      ackAfterBytes === null
        ? null
        : new Acknowledgements({ executionId, session, afterBytes: ackAfterBytes }, left.signal)
    this.#enter({ kind: "attached", session, subscription, acknowledgements }, left)
    this.#ready.resolve()
  }

  async #stayApart(session: Session, left: AbortSignal): Promise<void> {
    const { limits, connection } = this.#world
    // Attaching before this is answered could mix what is under way with what comes again.
    await session.ask("detach", { execution_id: this.executionId })
    while (!left.aborted) {
      if (this.inbox.endIsKnown) {
        if (!this.inbox.queue.isOpen) return this.#enter({ kind: "over" })
        await aborted(left)
      } else {
        await delay(limits.statusEveryMs, left, connection.closing)
        if (!left.aborted) await this.#askForEnd(left)
      }
    }
  }

  async #askForEnd(left: AbortSignal): Promise<void> {
    const session = await this.#session(left)
    const status = await session?.ask("status", { execution_id: this.executionId })
    if (status === undefined || left.aborted) return
    if (status.ok) {
      const completed = completedOf(status.value)
      if (completed !== null) this.inbox.learnEnd(completed)
    } else if (status.failure.kind === "refused" && !isTransient(status.failure.failure)) {
      this.fail(new CallError(status.failure.failure))
    }
  }

  #session(left: AbortSignal): Promise<Session | null> {
    return orAborted(this.#world.connection.session(), left)
  }
}
