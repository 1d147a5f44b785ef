export interface HostClock {
  /** For people and records. */
  now(): Date
  /** For every wait: never jumps. */
  monotonicMs(): number
  after(delayMs: number, run: () => void): Disposable
}

/** A timer's own bound is 24 days; limits may last longer than any timer. */
const longestTimerMs = 86_400_000

export const systemHostClock: HostClock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  after(delayMs, run) {
    let timer = setTimeout(elapse, Math.min(delayMs, longestTimerMs))
    let leftMs = delayMs - longestTimerMs
    function elapse(): void {
      if (leftMs <= 0) return run()
      timer = setTimeout(elapse, Math.min(leftMs, longestTimerMs))
      leftMs -= longestTimerMs
    }
    return { [Symbol.dispose]: () => clearTimeout(timer) }
  },
}
