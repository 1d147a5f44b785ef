import { shortId } from "../../execution/id.ts"
import { nameOf } from "../../execution/name.ts"
import { countText } from "../../lib/count-text.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import type { Context } from "../context.ts"
import { type Colours, coloursFor, type Paint } from "../terminal/colours.ts"
import { type Cell, renderTable } from "../terminal/table.ts"
import type { Text } from "../terminal/terminal-text.ts"
import { ageText, durationText, sizeText } from "../time.ts"
import { commandText, exitText } from "./execution-text.ts"

const columns = ["ID", "STATE", { right: "AGE" }, { right: "TIME" }, "EXIT", { right: "OUTPUT" }]

export function executionTable(
  context: Pick<Context, "stdout" | "env" | "now">,
  views: readonly ExecutionView[],
  /** By id, what has changed in the worktrees of sessions; null where nobody has asked. */
  changes: ReadonlyMap<string, string> | null = null,
): Text[] {
  const colours = coloursFor(context.stdout, context.env)
  const now = context.now()
  // Most have no name, and a column of nothing would only make the command shorter.
  const hasNames = views.some(({ labels }) => nameOf(labels) !== null)
  const hasAgents = views.some(({ agent }) => agent)
  const rows = views.map((view) => [
    ...cellsOf(view, now, colours),
    ...(hasAgents ? [{ text: costText(view) }] : []),
    ...(changes === null ? [] : comparedCells(view, changes)),
    ...(hasNames ? [{ text: onOneLine(nameOf(view.labels) ?? "") }] : []),
    { text: commandText(view) },
  ])
  const cost = hasAgents ? [{ right: "COST" }] : []
  const compared = changes === null ? [] : [{ right: "TURNS" }, "CHANGES"]
  const all = [...columns, ...cost, ...compared, ...(hasNames ? ["NAME"] : []), "COMMAND"]
  return renderTable(all, rows, context.stdout.width())
}

function cellsOf(view: ExecutionView, now: Date, colours: Colours): Cell[] {
  const { bytes } = view
  return [
    { text: shortId(view.execution_id), paint: colours.cyan },
    { text: stateText(view), paint: statePaint(view, colours) },
    { text: ageText(now.getTime() - Date.parse(view.created_at)) },
    { text: durationText(view.execution_time * 1000) },
    { text: endText(view), paint: exitPaint(view, colours) },
    { text: sizeText(bytes.stdout + bytes.stderr) },
  ]
}

/** Of an agent's session that runs, what it does. */
export function stateText({ state, blocked, agent }: ExecutionView): string {
  if (blocked) return "blocked"
  if (!agent || state !== "running") return state
  const { open_questions, activity } = agent
  return open_questions === 0 ? activity.state : countText(open_questions, "question")
}

/** Of a session that goes on in another execution, in which. */
function endText(view: ExecutionView): string {
  const { restarted_as: next } = view
  return next === undefined ? exitText(view) : `→ ${shortId(next)}`
}

function costText({ agent }: ExecutionView): string {
  return agent ? `$${agent.cost_usd.toFixed(2)}` : ""
}

function comparedCells(view: ExecutionView, changes: ReadonlyMap<string, string>): Cell[] {
  const turns = view.agent ? String(view.agent.turns.ended) : ""
  return [{ text: turns }, { text: changes.get(view.execution_id) ?? "" }]
}

function statePaint({ state }: ExecutionView, colours: Colours): Paint {
  switch (state) {
    case "running":
      return colours.green
    case "queued":
    case "starting":
    case "paused":
    case "stopping":
    case "draining":
      return colours.yellow
    case "ended":
      return colours.dim
  }
}

function exitPaint({ ending }: ExecutionView, colours: Colours): Paint {
  return ending?.exit_code === 0 && ending.outcome === "exited" ? colours.green : colours.red
}
