import { computed, type Signal, signal } from "@preact/signals"
import { type Client, connect } from "../../client/connect.ts"
import type { ConnectionState } from "../../client/connection/connection.ts"
import type { Greeting } from "../../client/connection/session.ts"
import type { Scope } from "../../execution/scope.ts"
import { ignoreUnhandledRejection } from "../../lib/ignore-unhandled-rejection.ts"
import { openSocket } from "../access/open-socket.ts"
import { Executions } from "./executions.ts"
import { notifyOf } from "./notify.ts"
import { Questions } from "./questions.ts"

/** What the page knows of the service, as long as it is let in. */
export class ConsoleState implements Disposable {
  readonly client: Client
  readonly connection: Signal<ConnectionState> = signal({ kind: "connecting" })
  readonly greeting: Signal<Greeting | null> = signal(null)
  readonly executions: Executions
  readonly questions: Questions
  /** Goes on once a second while somebody looks: ages are counted from it. */
  readonly nowMs = signal(Date.now())
  readonly canControl = computed(() => this.#has("control"))
  readonly canExecute = computed(() => this.#has("execute"))
  readonly isAdmin = computed(() => this.#has("admin"))
  readonly #clock: number
  readonly #stopNotifying: () => void

  constructor() {
    this.client = connect({
      url: location.origin,
      openSocket,
      reconnect: { firstDelayMs: 200, maxDelayMs: 2_000, giveUpAfterMs: null },
      onConnection: (state) => {
        this.connection.value = state
      },
    })
    ignoreUnhandledRejection(this.#greet())
    this.executions = new Executions(this.client)
    this.questions = new Questions(this.client, this.executions)
    this.#stopNotifying = notifyOf(this.executions, this.questions)
    this.#clock = window.setInterval(() => {
      if (!document.hidden) this.nowMs.value = Date.now()
    }, 1000)
  }

  [Symbol.dispose](): void {
    window.clearInterval(this.#clock)
    this.#stopNotifying()
    this.executions[Symbol.dispose]()
    this.questions[Symbol.dispose]()
    ignoreUnhandledRejection(this.client.close())
  }

  async #greet(): Promise<void> {
    this.greeting.value = await this.client.connected
  }

  #has(scope: Scope): boolean {
    const scopes = this.greeting.value?.scopes ?? []
    return scopes.includes(scope) || scopes.includes("admin")
  }
}
