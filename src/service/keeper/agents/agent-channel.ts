import type { AgentStatus } from "../../../execution/agent.ts"
import type { StopCause } from "../../../execution/state.ts"
import { tryParseJson } from "../../../lib/parse-json.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { SerialQueue } from "../../../lib/serial-queue.ts"
import { HostMessage, type RuleDecision } from "../../../protocol/agent-host.ts"
import { type AgentOrder, hostVersion, mostStatusBytes } from "../../../protocol/agent-orders.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { ChildOutput, Clock } from "../ports.ts"
import type { InputQueue } from "../supervision/input-queue.ts"

/** An order that is not answered by then may still be carried out. */
const orderMs = 30_000
/** A host has a bound on what waits; more than this at once is somebody's mistake. */
const mostPending = 256
/** Who says more than this is hardly a host: a tool may have got hold of it by ptrace. */
const mostOdd = 10
const oddWindowMs = 10_000

type Done = Result<Record<string, never>, Failure>
type Pending = { answer: (done: Done) => void; done: Done | null; writtenBytes: number }

export type AgentChannelEvents = {
  status(status: AgentStatus): void
  /** A rule has answered a question of the agent. */
  decided(decision: RuleDecision): void
  /** The session ends by itself; null for no cause but that somebody wanted it. */
  ending(cause: StopCause | null): void
  /** What came on the descriptor is not what a host says. */
  odd(why: string): void
}

/**
 * What the keeper and the host of an agent's session have to say to each other. Orders go in whole,
 * one after another, stamped with who gave them; an answer is passed on when the output that it
 * relies on has been taken into the transcript.
 */
export class AgentChannel {
  readonly #input: InputQueue
  readonly #status: ChildOutput
  readonly #clock: Clock
  readonly #events: AgentChannelEvents
  readonly #takenBytes: () => number
  readonly #pending = new Map<string, Pending>()
  readonly #writes = new SerialQueue()
  readonly #prefix = crypto.randomUUID().slice(0, 8)
  readonly #read: Promise<void>
  #orders = 0
  #odd = 0
  #oddSinceMs = 0
  #held: string
  #isSkipping = false

  constructor(
    input: InputQueue,
    status: ChildOutput,
    clock: Clock,
    /** Bytes of standard output that have been taken into the transcript. */
    takenBytes: () => number,
    events: AgentChannelEvents,
    held = "",
  ) {
    this.#input = input
    this.#status = status
    this.#clock = clock
    this.#takenBytes = takenBytes
    this.#events = events
    this.#held = held
    this.#read = this.#follow()
  }

  /** The beginning of a message that the next program goes on with, once all is read. */
  async handOver(): Promise<string> {
    await this.#read
    return this.#held
  }

  async order(by: string, order: AgentOrder): Promise<Done> {
    if (this.#pending.size >= mostPending) {
      const message = "Too many orders wait for this session: send one at a time."
      return fail(failure("RATE_LIMITED", message, { retry_after: 1 }))
    }
    this.#orders += 1
    const id = `${this.#prefix}-${this.#orders}`
    const at = this.#clock.now().toISOString()
    const text = `${JSON.stringify({ v: hostVersion, id, by, at, ...order })}\n`
    const data = new TextEncoder().encode(text)
    const { promise, resolve } = Promise.withResolvers<Done>()
    this.#pending.set(id, { answer: resolve, done: null, writtenBytes: 0 })
    using _timer = this.#clock.after(orderMs, () => resolve(fail(unknownOutcome)))
    try {
      const request = { principal: by, data, end: false, writer: null, offset: null }
      const taken = await this.#writes.run(() => this.#input.write(request))
      if (!taken.ok) return taken
      return await promise
    } finally {
      this.#pending.delete(id)
    }
  }

  /** More output is in the transcript. */
  advanced(): void {
    const taken = this.#takenBytes()
    for (const { done, answer, writtenBytes } of this.#pending.values()) {
      if (done !== null && writtenBytes <= taken) answer(done)
    }
  }

  /** The session is over: nobody answers any more. */
  close(): void {
    for (const { answer, done } of this.#pending.values()) answer(done ?? fail(hasEnded))
  }

  async #follow(): Promise<void> {
    const decoder = new TextDecoder()
    while (true) {
      const bytes = await this.#status.read()
      if (bytes === null) return
      if (this.#isIgnored()) this.#isSkipping = true
      else this.#take(decoder.decode(bytes, { stream: true }))
    }
  }

  #isIgnored(): boolean {
    if (this.#clock.monotonicMs() - this.#oddSinceMs >= oddWindowMs) this.#odd = 0
    return this.#odd >= mostOdd
  }

  #take(text: string): void {
    const lines = (this.#held + text).split("\n")
    const rest = lines.pop() ?? ""
    for (const line of lines) {
      if (!this.#isSkipping) this.#hear(line)
      this.#isSkipping = false
    }
    if (rest.length > mostStatusBytes && !this.#isSkipping) {
      this.#isOdd("a message that is too long")
      this.#isSkipping = true
    }
    this.#held = this.#isSkipping ? "" : rest
  }

  #isOdd(why: string): void {
    if (this.#odd === 0) this.#oddSinceMs = this.#clock.monotonicMs()
    this.#odd += 1
    this.#events.odd(why)
    if (this.#odd === mostOdd) this.#events.odd("too much of that: it is ignored for a while")
  }

  #hear(line: string): void {
    if (this.#odd >= mostOdd) return
    if (line.length > mostStatusBytes) return this.#isOdd("a message that is too long")
    const message = HostMessage.safeParse(tryParseJson(line))
    if (!message.success) return this.#isOdd(message.error.message.slice(0, 500))
    const said = message.data
    if ("status" in said) this.#events.status(said.status)
    else if ("decided" in said) this.#events.decided(said.decided)
    else if ("end" in said) this.#events.ending(said.end.cause)
    else {
      const pending = this.#pending.get(said.ack)
      if (pending === undefined) return // nobody waits for it any more
      pending.done = said.failure === undefined ? ok({}) : fail(said.failure)
      pending.writtenBytes = said.written
      this.advanced()
    }
  }
}

const unknownOutcome = failure(
  "OUTCOME_UNKNOWN",
  "The session has not answered within 30 s, and may still do what was asked. Repeat the " +
    "request: with the same turn_id it is done once.",
)

const hasEnded = failure("WRONG_STATE", "The session has ended.", { state: "ended" })
