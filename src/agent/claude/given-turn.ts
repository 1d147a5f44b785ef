import type { TurnEnd } from "../port.ts"
import { type Fields, listOf } from "./fields.ts"

/** The turn that Claude Code was given last, as far as it tells what becomes of it. */
export class GivenTurn {
  readonly uuid: string
  #isStarted = false
  #isCompleted = false
  #hasResult = false

  constructor(uuid: string) {
    this.uuid = uuid
  }

  /**
   * Whether this says that a run before this one had finished it. Then it is completed without
   * having been started, and Claude Code is idle; where the turn was only cut off, it is busy with
   * the rest of it, and a result comes before that.
   */
  wasFinishedBefore(message: Fields): boolean {
    if (message["type"] === "command_lifecycle" && message["command_uuid"] === this.uuid) {
      if (message["state"] === "started") this.#isStarted = true
      if (message["state"] === "completed") this.#isCompleted = true
    }
    const isIdle = message["subtype"] === "session_state_changed" && message["state"] === "idle"
    if (!isIdle || !this.#isCompleted || this.#isStarted || this.#hasResult) return false
    this.#hasResult = true
    return true
  }

  /** Whether a result is this turn's: Claude Code begins turns by itself as well. */
  isEndedBy(result: Fields): boolean {
    const uuids = listOf(result["user_message_uuids"])
    const isOwn = uuids.length > 0 ? uuids.includes(this.uuid) : this.#isStarted
    if (isOwn) this.#hasResult = true
    return isOwn
  }
}

/** What is known of a turn that was finished by a run before this one. */
export const finishedBefore: TurnEnd = {
  isAgentsOwn: false,
  outcome: "success",
  result: null,
  structuredOutput: null,
  durationMs: null,
  mayContinue: null,
}
