import type { TurnEnd } from "../port.ts"
import { type Fields, listOf } from "./fields.ts"

/** The turn that Claude Code was given last, as far as it tells what becomes of it. */
export class GivenTurn {
  readonly uuid: string
  #isStarted = false
  #hasResult = false

  constructor(uuid: string) {
    this.uuid = uuid
  }

  /**
   * Whether this says that a run before this one had finished it: then no result follows. A turn
   * that was cut off in that run has a result, and is said to be completed after it.
   */
  wasFinishedBefore(message: Fields): boolean {
    if (message["type"] !== "command_lifecycle" || message["command_uuid"] !== this.uuid) {
      return false
    }
    if (message["state"] === "started") this.#isStarted = true
    return message["state"] === "completed" && !this.#isStarted && !this.#hasResult
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
