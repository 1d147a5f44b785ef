import type { After } from "../../../../src/service/transports/http/ports.ts"

/** Timers that a test lets fire. */
export class ManualTimers {
  readonly waiting = new Set<{ delayMs: number; run: () => void }>()

  readonly after: After = (delayMs, run) => {
    const timer = { delayMs, run }
    this.waiting.add(timer)
    return { [Symbol.dispose]: () => void this.waiting.delete(timer) }
  }

  fire(): void {
    for (const timer of this.waiting) timer.run()
  }
}
