import { shortId } from "../../../execution/id.ts"
import type { ExecutionView } from "../../../protocol/execution-view.ts"
import type { Changes } from "../../../protocol/worktree.ts"
import type { Context } from "../../context.ts"
import { stateText } from "../../executions/execution-table.ts"
import { type Colours, coloursFor, type Paint } from "../../terminal/colours.ts"
import { type Cell, renderTable } from "../../terminal/table.ts"
import type { Text } from "../../terminal/terminal-text.ts"
import { durationText } from "../../time.ts"
import { changesSummary } from "../changes-text.ts"
import type { PromptLine } from "./prompt-lines.ts"

/** How it stands with one line. */
export type EachRow = {
  line: PromptLine
  /** Null until it is started, and where it was refused. */
  view: ExecutionView | null
  /** Once its turn is over: how that ended, or why there was none. */
  outcome: string | null
  changes: Changes | null
}

const columns = ["ID", "STATE", { right: "TIME" }, { right: "TURNS" }, { right: "COST" }]

export function eachTable(
  context: Pick<Context, "stdout" | "env">,
  output: Context["stdout"],
  rows: readonly EachRow[],
): Text[] {
  const colours = coloursFor(output, context.env)
  const hasChanges = rows.some(({ changes }) => changes !== null)
  const cells = rows.map((row) => cellsOf(row, hasChanges, colours))
  const all = [...columns, ...(hasChanges ? ["CHANGES"] : []), "PROMPT"]
  return renderTable(all, cells, output.width())
}

function cellsOf(row: EachRow, hasChanges: boolean, colours: Colours): Cell[] {
  const { view, line, changes, outcome } = row
  const agent = view?.agent
  return [
    { text: view === null ? "" : shortId(view.execution_id), paint: colours.cyan },
    { text: stateOf(row), paint: paintOf(outcome, colours) },
    { text: view === null ? "" : durationText(view.execution_time * 1000) },
    { text: agent ? String(agent.turns.ended) : "" },
    { text: agent ? `$${agent.cost_usd.toFixed(2)}` : "" },
    ...(hasChanges ? [{ text: changes === null ? "" : changesSummary(changes) }] : []),
    { text: line.prompt },
  ]
}

function stateOf({ outcome, view }: EachRow): string {
  return outcome ?? (view === null ? "waiting" : stateText(view))
}

function paintOf(outcome: string | null, colours: Colours): Paint {
  if (outcome === null) return colours.yellow
  return outcome === "success" ? colours.green : colours.red
}
