import { effect, type Signal, signal } from "@preact/signals"
import type { Client } from "../../client/connect.ts"
import { toolEssence } from "../../client/messages/tool-input.ts"
import { SessionLog } from "../../client/session-log.ts"
import { ignoreUnhandledRejection } from "../../lib/ignore-unhandled-rejection.ts"
import type { OpenQuestion } from "../../protocol/agent.ts"
import type { ResultOf } from "../../protocol/methods.ts"
import type { Executions } from "./executions.ts"

type Inbox = ResultOf<"agent.inbox">

/** What became of a question while this page was open. */
export type Answered = { key: string; what: string; by: string; behavior: string; at: string }

const lookEveryMs = 5_000
const mostAnswered = 20
/** An answer stands at the end of its session's log, or a little before. */
const tailBytes = 131_072

/** Every open question of every session: looked at whenever a session says that it changed. */
export class Questions implements Disposable {
  readonly inbox: Signal<Inbox> = signal({ questions: [], interrupted: [] })
  readonly answered: Signal<readonly Answered[]> = signal([])
  readonly isLoaded = signal(false)
  readonly #client: Client
  readonly #stop: () => void
  readonly #timer: number
  #isLooking = false
  #isStale = true

  constructor(client: Client, executions: Executions) {
    this.#client = client
    this.#stop = effect(() => {
      // How many each session has open: an answer elsewhere changes it as a new question does.
      for (const { agent } of executions.live.value) void agent?.open_questions
      this.look()
    })
    this.#timer = window.setInterval(() => {
      if (executions.live.value.some(({ agent }) => Boolean(agent))) this.look()
    }, lookEveryMs)
  }

  [Symbol.dispose](): void {
    this.#stop()
    window.clearInterval(this.#timer)
  }

  look(): void {
    this.#isStale = true
    if (this.#isLooking) return
    this.#isLooking = true
    ignoreUnhandledRejection(this.#lookUntilFresh().finally(() => (this.#isLooking = false)))
  }

  async #lookUntilFresh(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false
      const before = this.inbox.peek().questions
      const inbox = await this.#client.call("agent.inbox", {})
      this.inbox.value = inbox
      this.isLoaded.value = true
      const open = new Set(inbox.questions.map(keyOf))
      for (const gone of before.filter((one) => !open.has(keyOf(one)))) {
        ignoreUnhandledRejection(this.#findAnswer(gone))
      }
    }
  }

  /** Who it was: the session's log says it. */
  async #findAnswer(question: OpenQuestion): Promise<void> {
    const { execution_id, question_id, tool, input } = question
    const log = new SessionLog()
    log.cut()
    let from = `tail-bytes:${tailBytes}`
    while (true) {
      const page = await this.#client.call("transcript.read", { execution_id, from })
      for (const { type, data } of page.chunks) {
        for (const notice of log.add(type, data)) {
          if (notice.kind !== "event" || notice.event.event !== "answer") continue
          const { question_id: answered, by, behavior, at } = notice.event
          if (answered !== question_id) continue
          const what = `${tool ?? "question"} ${toolEssence(tool ?? "", input)}`
          this.#tell({ key: keyOf(question), what, by, behavior, at })
          return
        }
      }
      if (page.more !== true) return
      from = page.next
    }
  }

  #tell(answer: Answered): void {
    const others = this.answered.peek().filter(({ key }) => key !== answer.key)
    this.answered.value = [answer, ...others].slice(0, mostAnswered)
  }
}

function keyOf({ execution_id, question_id }: OpenQuestion): string {
  return `${execution_id}-${question_id}`
}
