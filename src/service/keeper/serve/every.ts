import type { Log } from "../ports.ts"

/** What fails once, for want of descriptors or space say, may work the next time. */
export function every(periodMs: number, log: Log, run: () => unknown): Disposable {
  const attempt = () => {
    try {
      run()
    } catch (error) {
      log.error({ err: error }, "housekeeping failed")
    }
  }
  const timer = setInterval(attempt, periodMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
