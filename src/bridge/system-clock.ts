import { delay } from "../client/delay.ts"
import type { BridgeClock } from "./ports.ts"

export const systemClock: BridgeClock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  sleep: (ms, until) => delay(ms, until),
  random: () => Math.random(),
}
