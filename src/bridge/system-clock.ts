import { delay } from "../lib/delay.ts"
import type { BridgeClock } from "./ports.ts"

export const systemClock: BridgeClock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  sleep: (ms, until) => delay(ms, until),
  random: () => Math.random(),
}
