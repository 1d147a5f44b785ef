import type { StreamName } from "../../../../src/execution/record.ts"
import type { Completed, NotificationOf } from "../../../../src/protocol/notifications.ts"
import { type ReceivedChunk, ReceivedOutput } from "../../../support/received-output.ts"
import type { PlannedExecution } from "./fault-plan.ts"

/** All that clients were told in a run, in its order. The record must not contradict any of it. */
export class Observations {
  readonly executions: ObservedExecution[] = []
  readonly story: string[] = []
  /** Nobody listens any more. */
  isOver = false
  readonly #startedAtMs = performance.now()
  #facts = 0

  /** How many things have been told: the clock by which work and faults begin. */
  get facts(): number {
    return this.#facts
  }

  /** Someone was told something. */
  fact(text: string | null = null): void {
    this.#facts += 1
    if (text !== null) this.happened(text)
  }

  happened(text: string): void {
    const seconds = ((performance.now() - this.#startedAtMs) / 1000).toFixed(3)
    this.story.push(`${seconds.padStart(8)} s  ${text}`)
  }

  asks(planned: PlannedExecution, generation: number): ObservedExecution {
    const execution = new ObservedExecution(planned, generation, this)
    this.executions.push(execution)
    return execution
  }
}

export class ObservedExecution {
  readonly planned: PlannedExecution
  /** How many keepers there had been when it was first asked for. */
  readonly generation: number
  readonly accounts: Account[] = []
  readonly refusals: string[] = []
  readonly ids = new Set<string>()
  /** Bytes of input that the service said the child has taken. */
  inputTaken = 0
  readonly #observed: Observations

  constructor(planned: PlannedExecution, generation: number, observed: Observations) {
    this.planned = planned
    this.generation = generation
    this.#observed = observed
  }

  get isOver(): boolean {
    return this.#observed.isOver
  }

  answered(id: string): void {
    if (this.ids.has(id)) return
    this.ids.add(id)
    this.#observed.fact(`"${this.planned.key}" is ${id}`)
  }

  refused(reason: string): void {
    this.refusals.push(reason)
    this.#observed.fact(`"${this.planned.key}" is refused: ${reason}`)
  }

  did(what: string): void {
    this.#observed.fact(`"${this.planned.key}": ${what}`)
  }

  account(who: string): Account {
    const account = new Account(`"${this.planned.key}" for ${who}`, this.#observed)
    this.accounts.push(account)
    return account
  }
}

type Piece = { stream: StreamName; at: number; bytes: Uint8Array }
type Gap = { at: number; bytes: number; lines: number }

const factEveryBytes = 65_536

/** What one follower has of one execution, over as many connections as it took. */
export class Account {
  readonly who: string
  readonly pieces: Piece[] = []
  readonly gaps: Gap[] = []
  /** What no follower may ever see, whatever the record says. */
  readonly faults: string[] = []
  end: Completed | null = null
  /** Output bytes of both streams, had or missed. */
  position = 0
  readonly #observed: Observations

  constructor(who: string, observed: Observations) {
    this.who = who
    this.#observed = observed
  }

  took(stream: StreamName, bytes: Uint8Array): void {
    this.#expectNotOver("output")
    const before = this.position
    this.pieces.push({ stream, at: before, bytes: bytes.slice() })
    this.position += bytes.length
    const isFirst = before === 0
    const passed = Math.floor(this.position / factEveryBytes) > Math.floor(before / factEveryBytes)
    if (isFirst || passed) this.#observed.fact()
  }

  missed(bytes: number, lines: number): void {
    this.#expectNotOver("a gap")
    this.gaps.push({ at: this.position, bytes, lines })
    this.position += bytes
    this.#observed.fact(`${this.who}: a gap of ${bytes} bytes`)
  }

  ended(completed: Completed): void {
    this.#expectNotOver("an end")
    this.end = completed
    const { outcome, exit_code, signal, cause, reason } = completed
    const how = [exit_code, signal, cause, reason].filter((one) => one !== null).join(", ")
    this.#observed.fact(`${this.who}: ended, ${outcome} ${how}`)
  }

  #expectNotOver(what: string): void {
    if (this.end !== null) this.faults.push(`${what} came after the end`)
  }
}

/** The output of a client that speaks by hand: a broken connection is no end of it. */
export class ObservedOutput extends ReceivedOutput {
  readonly account: Account

  constructor(account: Account) {
    super()
    this.account = account
  }

  override take(chunk: ReceivedChunk): void {
    super.take(chunk)
    this.account.took(chunk.stream, chunk.bytes)
  }

  override takeGap(gap: NotificationOf<"process.gap">): void {
    super.takeGap(gap)
    this.account.missed(gap.bytes, gap.lines)
  }

  override complete(completed: Completed): void {
    super.complete(completed)
    this.account.ended(completed)
  }

  override fail(): void {}
}
