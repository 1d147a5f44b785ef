import type { Context } from "../context.ts"
import { CommandFailure } from "../failure.ts"

export const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const
export type EndingSignal = (typeof endingSignals)[number]

export type Answer =
  | { kind: "cancel" }
  /** Leaves the execution running. */
  | { kind: "detach"; exitCode: number }

/**
 * What a signal to this program means for the execution it follows. The first Ctrl-C cancels, the
 * next one leaves; who only observes leaves at once. Being told to end, or losing the terminal, is
 * no reason to take the execution along: that it goes on is what the service is for.
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
    switch (signal) {
      case "SIGTERM":
        return { kind: "detach", exitCode: 143 }
      case "SIGHUP":
        return { kind: "detach", exitCode: 129 }
      case "SIGINT":
        if (!this.#mayCancel || this.#hasCanceled) return { kind: "detach", exitCode: 130 }
        this.#hasCanceled = true
        return { kind: "cancel" }
    }
  }
}

/** Aborted when this program is told to end. */
export function untilTold({ signals }: Context): Disposable & { signal: AbortSignal } {
  const over = new AbortController()
  const stack = new DisposableStack()
  for (const name of endingSignals) stack.use(signals.on(name, () => over.abort()))
  return { signal: over.signal, [Symbol.dispose]: () => stack.dispose() }
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

const controlP = 0x10
const controlQ = 0x11

type Keys = { forward: Uint8Array; isDetach: boolean }

/**
 * Looks for Ctrl-P Ctrl-Q in what is typed. A Ctrl-P waits for the key after it: only then is it
 * known whether it was the child's. Nothing typed after the two is passed on.
 */
export class DetachKeys {
  #isPending = false

  feed(typed: Uint8Array): Keys {
    const forward: number[] = []
    for (const key of typed) {
      if (this.#isPending && key === controlQ) {
        this.#isPending = false
        return { forward: Uint8Array.from(forward), isDetach: true }
      }
      if (this.#isPending) forward.push(controlP)
      this.#isPending = key === controlP
      if (!this.#isPending) forward.push(key)
    }
    return { forward: Uint8Array.from(forward), isDetach: false }
  }
}
