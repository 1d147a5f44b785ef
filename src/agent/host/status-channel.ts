import type { AgentStatus } from "../../execution/agent.ts"
import type { HostMessage } from "../../protocol/agent-host.ts"
import { mostStatusBytes } from "../../protocol/agent-orders.ts"
import type { HostClock } from "./host-clock.ts"

/** At most four a second, and more only for questions; the latest wins. */
const shortestMs = 250

/** Tells the keeper how a session stands, on a descriptor of its own. */
export class StatusChannel {
  readonly #write: (bytes: Uint8Array) => void
  readonly #clock: HostClock
  readonly #status: () => AgentStatus
  /** Each status that is told is also an event of the session. */
  readonly #told: (status: AgentStatus) => void
  #lastMs = Number.NEGATIVE_INFINITY
  #lastText = ""
  #timer: Disposable | null = null

  constructor(
    write: (bytes: Uint8Array) => void,
    clock: HostClock,
    status: () => AgentStatus,
    told: (status: AgentStatus) => void,
  ) {
    this.#write = write
    this.#clock = clock
    this.#status = status
    this.#told = told
  }

  changed(isUrgent: boolean): void {
    if (isUrgent) return this.flush()
    if (this.#timer !== null) return
    const waitMs = this.#lastMs + shortestMs - this.#clock.monotonicMs()
    if (waitMs <= 0) return this.flush()
    this.#timer = this.#clock.after(waitMs, () => {
      this.#timer = null
      this.flush()
    })
  }

  flush(): void {
    const status = this.#status()
    const text = JSON.stringify(status)
    if (text === this.#lastText) return
    this.#lastText = text
    this.#lastMs = this.#clock.monotonicMs()
    this.#told(status)
    this.send({ status: shortened(status) })
  }

  send(message: HostMessage): void {
    this.#write(Buffer.from(`${JSON.stringify(message)}\n`, "utf8"))
  }
}

const room = mostStatusBytes - 1024

/** A status that fits: what large questions are about stands in the transcript. */
function shortened(status: AgentStatus): AgentStatus {
  if (sizeOf(status) <= room) return status
  const questions = status.questions.map((question) => {
    const bytes = sizeOf(question)
    return bytes <= 2048
      ? question
      : { ...question, input: null, suggestions: [], input_bytes: bytes }
  })
  const short = { ...status, questions }
  if (sizeOf(short) <= room) return short
  const few = { ...short, last_turn: null, usage: { ...short.usage, by_model: {} } }
  for (const count of fewerQuestions) {
    const shorter = withShortTexts({ ...few, questions: questions.slice(0, count) })
    if (sizeOf(shorter) <= room) return shorter
  }
  return withShortTexts({ ...few, questions: [] })
}

const fewerQuestions = [100, 50, 20, 5]
const mostCharacters = 100

/** Nothing is so long in a status but what somebody has made so on purpose. */
function withShortTexts(status: AgentStatus): AgentStatus {
  const { activity, turns, questions, limit, end } = status
  return {
    ...shortTexts(status),
    activity: shortTexts(activity),
    turns: shortTexts(turns),
    questions: questions.map(shortTexts),
    limit: limit && shortTexts(limit),
    end: end && shortTexts(end),
  }
}

function shortTexts<Fields extends object>(fields: Fields): Fields {
  const short = { ...fields }
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === "string") Object.assign(short, { [name]: value.slice(0, mostCharacters) })
  }
  return short
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}
