import type { Clock } from "./ports.ts"

/** Waits on the given clock; an abort ends the wait early. */
export function sleep(clock: Clock, delayMs: number, hurry: AbortSignal | null): Promise<void> {
  return new Promise((resolve) => {
    if (hurry?.aborted === true) {
      resolve()
      return
    }
    const done = () => {
      timer[Symbol.dispose]()
      hurry?.removeEventListener("abort", done)
      resolve()
    }
    const timer = clock.after(delayMs, done)
    hurry?.addEventListener("abort", done, { once: true })
  })
}

/** Lets everybody else who is ready have their turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
