import type { AgentStatus, TurnOutcome, Usage } from "../../execution/agent.ts"
import type { TurnEnd } from "../port.ts"
import type { HostClock } from "./host-clock.ts"
import type { Recorder } from "./recorder.ts"
import { type Turn, Turns } from "./turns.ts"

const shownResultCharacters = 4000

/** The turns of a session, with all that becomes of them on record. */
export class RecordedTurns {
  readonly #turns = new Turns()
  readonly #clock: HostClock
  readonly #record: Recorder
  readonly #usage: () => Usage
  #last: AgentStatus["last_turn"] = null
  #over = Promise.withResolvers<void>()

  constructor(clock: HostClock, record: Recorder, usage: () => Usage) {
    this.#clock = clock
    this.#record = record
    this.#usage = usage
  }

  get current(): Turn | null {
    return this.#turns.current
  }

  /** Resolves when the one under way has ended, and that is on record. */
  get isOver(): Promise<void> {
    return this.#over.promise
  }

  /** The one that ended last. */
  get last(): AgentStatus["last_turn"] {
    return this.#last
  }

  /** Whether the last one succeeded, if there was one. */
  get isGoodSoFar(): boolean {
    return this.#last === null || this.#last.outcome === "success"
  }

  get isFull(): boolean {
    return this.#turns.isFull
  }

  get counts(): ReturnType<Turns["counts"]> {
    return this.#turns.counts()
  }

  isKnown(turnId: string): boolean {
    return this.#turns.isKnown(turnId)
  }

  accept(turn: Turn, when: "next" | "now"): void {
    const { turnId: turn_id, content, by } = turn
    this.#turns.accept(turn, when)
    const said = typeof content === "string" ? { text: content } : { content }
    this.#record.add("turn", { turn_id, by, ...said, ...(when === "now" ? { when } : {}) })
  }

  begin(): Turn | null {
    return this.#turns.begin()
  }

  /** Ends the one under way; `by` is who has interrupted it. */
  finish(outcome: TurnOutcome, end: Partial<TurnEnd>, by: string | null): void {
    const turn_id = this.#turns.end()?.turnId ?? null
    this.tell(turn_id, outcome, end, by)
    this.#over.resolve()
    this.#over = Promise.withResolvers()
  }

  /** Those that wait will not be given to the agent any more. */
  dropWaiting(outcome: TurnOutcome, result: string | null): void {
    for (const { turnId: turn_id } of this.#turns.dropWaiting()) {
      this.#record.add("turn-ended", { turn_id, outcome, result })
    }
  }

  /** The end of a turn; without a name, of one that the agent had begun by itself. */
  tell(
    turn_id: string | null,
    outcome: TurnOutcome,
    { result = null, structuredOutput = null, durationMs = null }: Partial<TurnEnd>,
    by: string | null = null,
  ): void {
    const shown = result?.slice(0, shownResultCharacters) ?? null
    this.#last = { turn_id, outcome, result: shown, ended_at: this.#clock.now().toISOString() }
    const usage = this.#usage()
    this.#record.add("turn-ended", {
      turn_id,
      outcome,
      result,
      structured_output: structuredOutput,
      cost_usd: usage.cost_usd,
      duration_ms: durationMs,
      ...(outcome === "interrupted" && by !== null ? { by } : {}),
    })
    this.#record.add("usage", usage)
  }
}
