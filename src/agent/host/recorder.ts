import type { AgentStatus } from "../../execution/agent.ts"
import type { EventLog } from "./event-log.ts"

const longEventBytes = 64 * 1024

/** Puts what happens on record. After a long event comes the status: it is found from the end. */
export class Recorder {
  readonly #log: EventLog
  readonly #status: () => AgentStatus

  constructor(log: EventLog, status: () => AgentStatus) {
    this.#log = log
    this.#status = status
  }

  add(event: string, facts: object): void {
    this.#added(this.#log.add(event, facts))
  }

  addMessage(json: string): void {
    this.#added(this.#log.addMessage(json))
  }

  #added(bytes: number): void {
    if (bytes > longEventBytes) this.#log.add("status", this.#status())
  }
}
