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
