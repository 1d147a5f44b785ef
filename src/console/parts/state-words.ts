import { onOneLine } from "../../lib/harmless-text.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"

/** Colour means state, and nothing else does. */
export type Tone = "live" | "waits" | "good" | "bad" | "over"

export type StateWords = { word: string; tone: Tone }

/** How an execution is, in a word. */
export function stateOf(view: ExecutionView): StateWords {
  const { state, ending, agent } = view
  if (ending !== null) return endOf(ending)
  if (agent && agent.open_questions > 0) return { word: "asks", tone: "waits" }
  if (state === "running") {
    if (agent?.activity.state === "limit") return { word: "at a limit", tone: "waits" }
    return { word: view.blocked ? "blocked" : "running", tone: view.blocked ? "waits" : "live" }
  }
  const isWaiting = state === "paused" || state === "queued"
  return { word: state, tone: isWaiting ? "waits" : "live" }
}

function endOf(ending: NonNullable<ExecutionView["ending"]>): StateWords {
  const { outcome, exit_code, signal, cause } = ending
  switch (outcome) {
    case "exited":
      return exit_code === 0
        ? { word: "done", tone: "good" }
        : { word: `exit ${exit_code ?? "?"}`, tone: "bad" }
    case "signaled":
      return { word: signal ?? "signaled", tone: "bad" }
    case "stopped":
      return cause === "client"
        ? { word: "canceled", tone: "over" }
        : { word: cause ?? "stopped", tone: "bad" }
    case "failed-to-start":
      return { word: "not started", tone: "bad" }
    case "lost":
      return { word: "lost", tone: "bad" }
  }
}

type Activity = Pick<NonNullable<ExecutionView["agent"]>["activity"], "state" | "tool" | "awaited">

/** What an agent does, and what has to come next. */
export function activityWords({ state, tool, awaited }: Activity): string {
  const what = tool === undefined ? state : `${state}: ${tool}`
  return onOneLine(`${what}, waits for ${awaited}`)
}

/** What somebody has done with a question. */
export function answerWord(behavior: string): string {
  if (behavior === "allow") return "allowed"
  return behavior === "deny" ? "denied" : onOneLine(behavior)
}
