import type { Log } from "../../../lib/log.ts"
import type { Clock } from "../ports.ts"
import { doneUnlessShort, guardedClock } from "../shortages.ts"

/** Timers longer than this overflow a 32-bit integer and would fire at once. */
const longestTimerMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  after(delayMs, run) {
    let remainingMs = delayMs
    let timer = setTimeout(next, Math.min(remainingMs, longestTimerMs))
    return {
      [Symbol.dispose]() {
        clearTimeout(timer)
      },
    }

    function next() {
      remainingMs -= longestTimerMs
      if (remainingMs <= 0) run()
      else timer = setTimeout(next, Math.min(remainingMs, longestTimerMs))
    }
  },
}

/** What a timer does is tried again, or was not needed: a shortage is no reason to end. */
export function serviceClock(log: Log): Clock {
  return guardedClock(systemClock, (error) => {
    doneUnlessShort(log, "what was due", () => {
      throw error
    })
  })
}
