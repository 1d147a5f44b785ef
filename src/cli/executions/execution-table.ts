import { shortId } from "../../execution/id.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import type { Context } from "../context.ts"
import { type Colours, coloursFor, type Paint } from "../terminal/colours.ts"
import { type Cell, renderTable } from "../terminal/table.ts"
import { ageText, durationText, sizeText } from "../time.ts"
import { commandText, exitText } from "./execution-text.ts"

const columns = [
  "ID",
  "STATE",
  { right: "AGE" },
  { right: "TIME" },
  "EXIT",
  { right: "OUTPUT" },
  "COMMAND",
]

export function executionTable(
  context: Pick<Context, "stdout" | "env" | "now">,
  views: readonly ExecutionView[],
): string[] {
  const colours = coloursFor(context.stdout, context.env)
  const now = context.now()
  const rows = views.map((view) => rowOf(view, now, colours))
  return renderTable(columns, rows, context.stdout.width())
}

function rowOf(view: ExecutionView, now: Date, colours: Colours): Cell[] {
  const { bytes } = view
  return [
    { text: shortId(view.execution_id), paint: colours.cyan },
    { text: view.blocked ? "blocked" : view.state, paint: statePaint(view, colours) },
    { text: ageText(now.getTime() - Date.parse(view.created_at)) },
    { text: durationText(view.execution_time * 1000) },
    { text: exitText(view), paint: exitPaint(view, colours) },
    { text: sizeText(bytes.stdout + bytes.stderr) },
    { text: commandText(view) },
  ]
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
