import { lineEndOf } from "../../documents/lines.ts"
import { codeSpan } from "../inline.ts"
import { endMarker } from "../region-edit.ts"

/** What the record says of an execution that a feedback names. */
export type ExecutionRow = {
  id: string
  command: string
  exit: string
  transcript: string // its SHA-256
  startedAt: string
}

/** The feedback, and below it what is on record of the executions that it names. */
export function withExecutions(feedback: string, rows: readonly ExecutionRow[]): string {
  const own = withoutOurs(feedback)
  if (rows.length === 0) return own
  const lines = [
    "<!-- cc-executor:begin executions -->",
    "## Executions, as they are on record",
    "",
    "| execution | command | end | transcript, SHA-256 | started |",
    "| --- | --- | --- | --- | --- |",
    ...rows.map(({ id, command, exit, transcript, startedAt }) => {
      const cells = [id, codeSpan(command.replaceAll("|", "\\|")), exit, transcript, startedAt]
      return `| ${cells.join(" | ")} |`
    }),
    endMarker,
  ]
  const end = lineEndOf(own)
  return `${own.trimEnd()}${end}${end}${lines.join(end)}${end}`
}

/** Whoever writes such a region by hand has written nothing. */
function withoutOurs(text: string): string {
  return text.replace(/<!-- cc-executor:begin executions\b[^]*?(?:<!-- cc-executor:end -->|$)/g, "")
}
