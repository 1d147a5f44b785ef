import { until } from "../support/until.ts"
import type { Machine } from "./machine.ts"

/** Waits until something that was started has printed a text; the line it stands in. */
export async function untilPrinted(machine: Machine, step: string, text: string): Promise<string> {
  const found = () => machine.printed(step).find((line) => line.includes(text))
  return until(`it prints "${text}"`, found).catch((error: unknown) => {
    throw new Error(`${String(error)}; it printed:\n${machine.printed(step).join("\n")}`)
  })
}
