import type { Evidence, ToolEvidence } from "../../execution/evidence/evidence.ts"
import { countText } from "../../lib/count-text.ts"
import { onOneLine } from "../../lib/harmless-text.ts"

const mostInputCharacters = 200

/** Where a text stands in an agent's session, for people. */
export function evidenceLines(evidence: Evidence): string[] {
  const { found, times, uses, tools, unread, note, caveat } = evidence
  const others = uses - tools.length
  return [
    `text        ${found}: ${times.executed} in outputs of tools, ` +
      `${times.claimed} in what the agent said, ${times.echoed} in what it was told`,
    ...tools.map((tool) => `tool        ${toolText(tool)}`),
    ...(others > 0
      ? [`            and ${countText(others, "more use", "more uses")} of tools`]
      : []),
    ...(unread > 0 ? [`unread      ${countText(unread, "event")} could not be read`] : []),
    ...(found === "executed" ? [`meaning     ${note}`] : []), // else the refutation says it
    `caveat      ${caveat}`,
  ]
}

function toolText({ tool, input, event, in_own_input, in_earlier_input, failed }: ToolEvidence) {
  const facts = [
    `event ${event}`,
    ...(failed ? ["reported an error"] : []),
    ...(in_own_input === true ? ["stood in its own input"] : []),
    ...(in_earlier_input ? ["stood in an earlier tool's input"] : []),
  ]
  if (tool === null) return `unknown, ${facts.join(", ")}`
  return `${onOneLine(tool)} ${shortened(onOneLine(input ?? ""))}, ${facts.join(", ")}`
}

function shortened(text: string): string {
  return text.length <= mostInputCharacters ? text : `${text.slice(0, mostInputCharacters)}…`
}
