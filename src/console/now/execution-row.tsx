import { onOneLine } from "../../lib/harmless-text.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import { useConsole } from "../live/use-console.ts"
import { bytesText, costText, durationText, rateText } from "../parts/format.ts"
import { activityWords, stateOf } from "../parts/state-words.ts"
import { addressOf } from "../place.ts"

/** One execution on one line: what it is, how it is, how long, how much. */
export function ExecutionRow({ view }: { view: ExecutionView }) {
  const { executions, nowMs } = useConsole()
  const { execution_id: id, agent, bytes } = view
  const { word, tone } = stateOf(view)
  const rate = executions.rates.value.get(id)?.perSecond ?? null
  const isLive = view.state !== "ended"
  const sinceMs = Date.parse(isLive ? view.created_at : (view.ended_at ?? view.created_at))
  const address = addressOf({
    kind: "execution",
    id,
    line: null,
    part: agent ? "session" : view.terminal === null ? "output" : "terminal",
  })
  const labels = Object.entries(view.labels).filter(([name]) => name !== "name")
  return (
    <li>
      <a href={address}>
        <span class={`state ${tone}`}>{word}</span>
        <span class="what">
          {view.labels["name"] !== undefined && <b>{onOneLine(view.labels["name"])}</b>}
          <code>{onOneLine(commandOf(view))}</code>
          {labels.length > 0 && (
            <span class="labels">
              {labels.map(([name, value]) => (
                <span key={name} class="label">
                  {onOneLine(`${name}:${value}`)}
                </span>
              ))}
            </span>
          )}
        </span>
        <span class="activity">{!agent ? "" : activityText(agent)}</span>
        <span class="figures">
          {agent && <span>{costText(agent.cost_usd)}</span>}
          {isLive && rate !== null && rate > 0 && <span>{rateText(rate)}</span>}
          <span>{bytesText(bytes.stdout + bytes.stderr)}</span>
          <span>
            {durationText(nowMs.value - sinceMs)}
            {isLive ? "" : " ago"}
          </span>
        </span>
      </a>
    </li>
  )
}

/** As it was asked for. */
export function commandOf({ command, argv, agent }: ExecutionView): string {
  if (agent) return `Claude Code ${agent.model ?? ""}`.trim()
  return command ?? argv.join(" ")
}

function activityText({ activity, end }: NonNullable<ExecutionView["agent"]>): string {
  if (end !== null) return onOneLine(end.cause)
  return activityWords(activity)
}
