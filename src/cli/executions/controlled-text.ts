import { countText } from "../../lib/count-text.ts"
import type { ResultOf } from "../../protocol/methods.ts"
import { durationText } from "../time.ts"
import { survivorsNotice } from "./execution-text.ts"

/** What became of an execution that was canceled, paused or resumed. */
export function controlledText(called: string, result: ResultOf<"control">): string {
  if (result.status !== "canceled") return `${called} ${result.status}`
  const { processes, survivors } = result
  const survived = survivorsNotice({ survivors })
  const tail = survived === null ? "" : `; ${survived}`
  if (processes.length === 0) return `${called} canceled${tail}`
  const signals = [...new Set(processes.map(({ signal }) => signal))].join(", ")
  const longest = durationText(Math.max(...processes.map(({ ms }) => ms)))
  const count = countText(processes.length, "process", "processes")
  return `${called} canceled: ${count} ended by ${signals} within ${longest}${tail}`
}
