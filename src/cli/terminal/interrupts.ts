import type { Context } from "../context.ts"
import { CommandFailure } from "../failure.ts"

export const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const
export type EndingSignal = (typeof endingSignals)[number]

/** As shells have it for who is ended by one. */
const leavingExitCode: Record<EndingSignal, number> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }

export type Answer =
  | { kind: "cancel" }
  /** Leaves the execution running. */
  | { kind: "detach"; exitCode: number }

/**
 * What a signal to this program means for the execution it follows. Ctrl-C cancels what this
 * program has started, and a second one does not wait for the end; who came later only leaves.
 * Being told to end, or losing the terminal, is no reason to take the execution along: that it
 * goes on is what the service is for.
 */
export class Interrupts {
  readonly #mayCancel: boolean
  #hasCanceled = false

  constructor(mayCancel: boolean) {
    this.#mayCancel = mayCancel
  }

  get hasCanceled(): boolean {
    return this.#hasCanceled
  }

  answer(signal: EndingSignal): Answer {
    const detached = { kind: "detach", exitCode: leavingExitCode[signal] } as const
    switch (signal) {
      case "SIGTERM":
      case "SIGHUP":
        return detached
      case "SIGINT":
        if (!this.#mayCancel || this.#hasCanceled) return detached
        this.#hasCanceled = true
        return { kind: "cancel" }
    }
  }
}

type Told = Disposable & { signal: AbortSignal; readonly exitCode: number | null }

/** Aborted when this program is told to end; from then on there is an exit code that says so. */
export function untilTold({ signals }: Pick<Context, "signals">): Told {
  const over = new AbortController()
  const stack = new DisposableStack()
  let exitCode: number | null = null
  for (const name of endingSignals) {
    const told = () => {
      exitCode ??= leavingExitCode[name]
      over.abort()
    }
    stack.use(signals.on(name, told))
  }
  return {
    signal: over.signal,
    get exitCode() {
      return exitCode
    },
    [Symbol.dispose]: () => stack.dispose(),
  }
}

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
      const text = "canceling as soon as it has started… (press Ctrl-C again to give up)"
      this.#context.stderr.write(`cc-executor: ${text}\n`).catch(() => undefined) // nobody looks
      return
    }
    const message = "Gave up before the service answered. `cc-executor ps` shows what is running."
    this.#impatient.reject(new CommandFailure(message, 130))
  }
}
