import { onOneLine } from "../../lib/harmless-text.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import { useConsole } from "../live/use-console.ts"
import { costText, countText, durationText } from "../parts/format.ts"
import { lazily } from "../parts/lazily.tsx"
import { activityWords } from "../parts/state-words.ts"
import type { UsagePoint } from "./conversation.ts"

const Plot = lazily(async () => (await import("../parts/plot.tsx")).Plot)

type BarProps = { view: ExecutionView; usage: readonly UsagePoint[]; version: number }

/** What a session does and waits for, and what it has used. */
export function SessionBar({ view: { agent }, usage }: BarProps) {
  const { nowMs } = useConsole()
  if (!agent) return null
  const { activity, turns, model, limit, cost_usd } = agent
  const last = usage.at(-1)
  return (
    <div class="session-bar">
      <p class="facts">
        <span>{activityWords(activity)}</span>
        {model !== null && <span>{onOneLine(model)}</span>}
        <span>{costText(cost_usd)}</span>
        {last !== undefined && <span>{countText(last.tokens)} tokens</span>}
        <span>
          {turns.ended} of {turns.accepted} turns ended
        </span>
        {activity.until !== undefined && (
          <span class="waits">
            goes on in {durationText(Date.parse(activity.until) - nowMs.value)}
          </span>
        )}
        {limit !== null && limit.status !== "allowed" && limit.resets_at !== null && (
          <span class="waits">
            limit resets in {durationText(Date.parse(limit.resets_at) - nowMs.value)}
          </span>
        )}
      </p>
      {usage.length > 1 && (
        <details>
          <summary>Cost and tokens over time</summary>
          <Plot
            times={usage.map(({ at }) => Date.parse(at) / 1000)}
            lines={[
              { label: "US$", values: usage.map(({ costUsd }) => costUsd) },
              { label: "tokens", values: usage.map(({ tokens }) => tokens), isRight: true },
            ]}
          />
        </details>
      )}
    </div>
  )
}
