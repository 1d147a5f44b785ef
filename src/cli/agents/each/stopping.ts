import type { Context } from "../../context.ts"
import { type EndingSignal, endingSignals } from "../../terminal/interrupts.ts"

const exitCodes: Record<EndingSignal, number> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }

const firstText =
  "No further line is started; press Ctrl-C again to leave those that run: they go on."

/** Ctrl-C once: nothing new begins. A second time, or any other signal: nobody waits any more. */
export class Stopping implements Disposable {
  readonly #over = new AbortController()
  readonly #listening = new DisposableStack()
  readonly signal = this.#over.signal
  isAsked = false
  exitCode = 130

  constructor({ signals }: Pick<Context, "signals">, tell: (text: string) => void) {
    for (const name of endingSignals) {
      const told = () => {
        this.exitCode = exitCodes[name]
        if (this.isAsked || name !== "SIGINT") this.#over.abort()
        else tell(firstText)
        this.isAsked = true
      }
      this.#listening.use(signals.on(name, told))
    }
  }

  [Symbol.dispose](): void {
    this.#listening.dispose()
  }
}
