import type { After } from "./ports.ts"

export const afterTimer: After = (delayMs, run) => {
  const timer = setTimeout(run, delayMs)
  return { [Symbol.dispose]: () => clearTimeout(timer) }
}
