import type { Context } from "../context.ts"
import { CommandFailure } from "../failure.ts"
import { type EndingSignal, endingSignals } from "./interrupts.ts"

/** Signals that come while an execution is being started, when there is nothing to cancel yet. */
export class EarlySignals implements Disposable {
  readonly #context: Context
  readonly #listening = new DisposableStack()
  readonly #impatient = Promise.withResolvers<never>()
  readonly taken: EndingSignal[] = []

  constructor(context: Context) {
    this.#context = context
    this.#impatient.promise.catch(() => undefined) // told to those who wait, if any do
    for (const signal of endingSignals) {
      this.#listening.use(context.signals.on(signal, () => this.#took(signal)))
    }
  }

  /** Waits for the start, or gives up at the second signal. */
  async during<Started>(start: Promise<Started>): Promise<Started> {
    return Promise.race([start, this.#impatient.promise])
  }

  [Symbol.dispose](): void {
    this.#listening.dispose()
  }

  #took(signal: EndingSignal): void {
    this.taken.push(signal)
    if (this.taken.length === 1 && signal === "SIGINT") {
      const text = "canceling as soon as it has started… (Ctrl-C again to give up)"
      this.#context.stderr.write(`cc-executor: ${text}\n`).catch(() => undefined) // nobody looks
      return
    }
    const message = "Given up before the service had answered. `cc-executor ps` shows what runs."
    this.#impatient.reject(new CommandFailure(message, 130))
  }
}
