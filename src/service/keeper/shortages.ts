import { isShortage } from "../../lib/exhaustion.ts"
import type { Log } from "../../lib/log.ts"
import type { Clock } from "./ports.ts"
import { sleep } from "./sleep.ts"

/**
 * For what the service does by itself, now and then or when something happens. Where descriptors,
 * memory, processes or space are short, that is logged, and the next time may do; anything else is
 * a bug, and thrown. Answers whether it was done.
 */
export function doneUnlessShort(log: Log, what: string, run: () => void): boolean {
  try {
    run()
    return true
  } catch (error) {
    if (!isShortage(error)) throw error
    log.error({ err: error, what }, "something is short: this was not done")
    return false
  }
}

const retryMs = 100
/** What is short for longer will not pass by itself. */
const longestShortageMs = 60_000

/**
 * For what has to be done sooner or later, and may be done twice. Where something is short, it is
 * tried again a moment later, until it works or there is no hope any more.
 */
export async function retriedWhileShort<Value>(
  clock: Clock,
  work: () => Value,
): Promise<Awaited<Value>> {
  const deadlineMs = clock.monotonicMs() + longestShortageMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isShortage(error) || clock.monotonicMs() >= deadlineMs) throw error
      await sleep(clock, retryMs, null)
    }
  }
}

/**
 * A clock whose timers end no process: one that something was short for comes again a moment later;
 * what else a callback throws is told to whom it belongs to.
 */
export function retryingClock(clock: Clock, failed: (error: unknown) => void): Clock {
  return {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    after(delayMs, run) {
      const attempt = () => {
        try {
          run()
        } catch (error) {
          if (isShortage(error)) timer = clock.after(retryMs, attempt)
          else failed(error)
        }
      }
      let timer = clock.after(delayMs, attempt)
      return { [Symbol.dispose]: () => timer[Symbol.dispose]() }
    },
  }
}

/** A clock whose timers end no process: what a callback throws is told to whom it belongs to. */
export function guardedClock(clock: Clock, failed: (error: unknown) => void): Clock {
  return {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    after: (delayMs, run) =>
      clock.after(delayMs, () => {
        try {
          run()
        } catch (error) {
          failed(error)
        }
      }),
  }
}
