import type { ExecutionView } from "../../protocol/execution-view.ts"
import { useConsole } from "../live/use-console.ts"
import { countText } from "../parts/format.ts"
import { stateOf } from "../parts/state-words.ts"

/** How much there is of everything, before any filter. */
export function Counts() {
  const { executions, questions, nowMs } = useConsole()
  const live = executions.live.value
  const queued = live.filter(({ state }) => state === "queued").length
  const waiting = questions.inbox.value.questions.length
  const midnightMs = startOfDay(nowMs.value)
  const today = executions.ended.value.filter((view) => endedMs(view) >= midnightMs)
  const failed = today.filter((view) => stateOf(view).tone === "bad").length
  // Those that were not loaded may have ended today, too.
  const more = executions.hasOlder.value ? "+" : ""
  return (
    <ul class="counts" aria-label="In numbers">
      <li>
        <b>{countText(live.length - queued)}</b> running
      </li>
      {waiting > 0 && (
        <li>
          <a href="#/inbox">
            <b>{countText(waiting)}</b> waiting for you
          </a>
        </li>
      )}
      {queued > 0 && (
        <li>
          <b>{countText(queued)}</b> queued
        </li>
      )}
      <li>
        <b>
          {countText(today.length)}
          {more}
        </b>{" "}
        ended today
        {failed > 0 && (
          <>
            ,{" "}
            <span class="state bad">
              {countText(failed)}
              {more} with failures
            </span>
          </>
        )}
      </li>
    </ul>
  )
}

/** Of the day where the browser is. */
function startOfDay(atMs: number): number {
  return new Date(atMs).setHours(0, 0, 0, 0)
}

function endedMs({ ended_at }: ExecutionView): number {
  return ended_at === null ? 0 : Date.parse(ended_at)
}
