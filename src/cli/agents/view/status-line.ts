import type { AgentStatus } from "../../../execution/agent.ts"
import { countText } from "../../../lib/count-text.ts"
import type { SessionEvent } from "../../../protocol/agent-event.ts"
import { ageText } from "../../time.ts"

/** What the status line is made of. */
export type SessionFacts = Partial<
  Pick<AgentStatus, "activity" | "model" | "usage" | "limit" | "turns">
>

/** The facts after an event. */
export function factsAfter(facts: SessionFacts, event: SessionEvent): SessionFacts {
  switch (event.event) {
    case "status": {
      const { activity, model, usage, limit, turns } = event
      return { activity, model, usage, limit, turns }
    }
    case "activity":
      return { ...facts, activity: event }
    case "usage":
      return { ...facts, usage: event }
    case "limit":
      return { ...facts, limit: event }
    case "session":
    case "configured":
      return event.model ? { ...facts, model: event.model } : facts
    default:
      return facts
  }
}

export function isBusy({ activity, turns }: SessionFacts): boolean {
  if ((turns?.current ?? null) !== null || (turns?.waiting ?? 0) > 0) return true
  return activity !== undefined && activity.state !== "idle" && activity.state !== "starting"
}

/** What it does and waits for, and what it has used; most important first, for it may be cut. */
export function statusText(facts: SessionFacts, now: Date): string {
  const { turns, model, usage } = facts
  const waiting = turns?.waiting ?? 0
  return [
    activityText(facts, now),
    waiting > 0 ? `${countText(waiting, "turn")} waiting` : "",
    limitText(facts, now),
    model ?? "",
    usage === undefined ? "" : `$${usage.cost_usd.toFixed(usage.cost_usd < 1 ? 4 : 2)}`,
    contextText(facts),
  ]
    .filter((part) => part !== "")
    .join(" · ")
}

function activityText({ activity }: SessionFacts, now: Date): string {
  if (activity === undefined) return "starting"
  const { state, since, awaited, until, tool, attempt, most_attempts, todo } = activity
  const age = ageText(now.getTime() - Date.parse(since))
  if (state === "idle") return "idle: type what to do next"
  const name = state === "tool" ? (tool ?? "tool") : state
  const attempts =
    attempt === undefined
      ? ""
      : `, attempt ${attempt}${most_attempts ? ` of ${most_attempts}` : ""}`
  const end = until === undefined ? "" : `, until ${clockText(until, now)}`
  const what = state === "tool" ? "" : `, waits for ${awaited}`
  return `${name} ${age}${attempts}${end}${what}${todo === undefined ? "" : `: ${todo}`}`
}

function limitText({ limit, activity }: SessionFacts, now: Date): string {
  if (!limit || limit.status === "allowed" || activity?.state === "limit") return ""
  const used = limit.utilization === null ? "" : ` ${Math.round(limit.utilization * 100)} %`
  const until = limit.resets_at === null ? "" : ` until ${clockText(limit.resets_at, now)}`
  return `limit${used}${until}`
}

function contextText({ usage }: SessionFacts): string {
  const { context_tokens: used, context_window: window } = usage ?? {}
  if (typeof used !== "number" || typeof window !== "number" || window === 0) return ""
  return `context ${Math.round((used / window) * 100)} %`
}

/** A time today by the clock, another one with its day. */
function clockText(time: string, now: Date): string {
  const at = new Date(time)
  const clock = `${pad(at.getHours())}:${pad(at.getMinutes())}`
  return at.toDateString() === now.toDateString() ? clock : `${at.toDateString()} ${clock}`
}

function pad(number: number): string {
  return String(number).padStart(2, "0")
}
