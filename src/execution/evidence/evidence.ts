import { z } from "zod"
import { countText } from "../../lib/count-text.ts"

const times = z.int().describe("how often")

const ToolEvidence = z.object({
  tool: z.string().nullable().describe("null when its use is not in the record any more"),
  input: z.string().nullable().describe("what it was used with, as JSON; its beginning"),
  times: times.describe("how often the text stands in its output"),
  in_own_input: z.boolean().nullable().describe("the text stands in its input too"),
  in_earlier_input: z.boolean().describe("the text stands in the input of an earlier tool use"),
  failed: z.boolean().describe("the tool reported an error"),
  event: z.int().describe("`n` of the event with its output"),
  at: z.string(),
})
export type ToolEvidence = z.infer<typeof ToolEvidence>

/** Where a text stands in the log of an agent's session. */
export const Evidence = z.object({
  found: z
    .enum(["executed", "claimed", "echoed", "absent"])
    .describe(
      "`executed`: in the output of a tool that ran; `claimed`: only in what the agent said; " +
        "`echoed`: only in what it was told; `absent`: in none of these",
    ),
  times: z.object({ executed: times, claimed: times, echoed: times }),
  uses: z.int().describe("tool uses with the text in their output"),
  uses_with_own_input: z.int().describe("those of them with the text in their input too"),
  tools: z.array(ToolEvidence).describe("some of these uses, at most five, the best first"),
  unread: z.int().describe("events that could not be read: broken, or too large"),
  note: z.string().describe("what this means"),
  caveat: z.string().describe("what could have falsified it"),
})
export type Evidence = z.infer<typeof Evidence>

/** What was found, before anybody says what it means. */
export type Findings = Omit<Evidence, "note" | "caveat">

export const nothingFound: Findings = {
  found: "absent",
  times: { executed: 0, claimed: 0, echoed: 0 },
  uses: 0,
  uses_with_own_input: 0,
  tools: [],
  unread: 0,
}

/** `hasOwnUser`: whether the session ran as another user than the service. */
export function evidenceOf(findings: Findings, hasOwnUser: boolean): Evidence {
  return { ...findings, note: noteOf(findings), caveat: hasOwnUser ? forgeable : recordForgeable }
}

/** Completes the sentence "It is not verified: …"; null for what was executed. */
export function whyNotExecuted({ found, unread }: Evidence): string | null {
  const missing = unread === 0 ? "" : `; ${countText(unread, "event")} could not be read`
  switch (found) {
    case "executed":
      return null
    case "claimed":
      return `the agent said it, but no tool that ran wrote it${missing}`
    case "echoed":
      return `the agent was told it, but no tool that ran wrote it${missing}`
    case "absent":
      return `the text is nowhere in the session${missing}`
  }
}

function noteOf(findings: Findings): string {
  const { found, uses, uses_with_own_input, tools } = findings
  switch (found) {
    case "executed":
      if (uses === uses_with_own_input) {
        return uses === 1
          ? "A tool wrote it, but it stood in its own input: it was told to write it."
          : "Tools wrote it, but each time it stood in its own input: they were told to write it."
      }
      if (tools.every(({ in_own_input, in_earlier_input }) => in_own_input || in_earlier_input)) {
        return "A tool wrote it, but it stood in the input of an earlier tool, as of a file."
      }
      return tools.some(({ in_own_input }) => in_own_input === false)
        ? "A tool wrote it, and it did not stand in its input."
        : "A tool wrote it. What the tool was used with is not in the record any more."
    case "claimed":
      return "The agent said it, and no tool that ran wrote it."
    case "echoed":
      return "The agent was told it. It did not say it, and no tool that ran wrote it."
    case "absent":
      return "No tool wrote it, the agent did not say it, and it was not told it."
  }
}

const recordForgeable =
  "The agent's tools ran as the service's own user: one of them could have interfered, by ptrace " +
  "for example."
const forgeable =
  "The agent's tools ran as the user of the session's host: one of them could have interfered " +
  "with what the host wrote, by ptrace for example, but not with the record of it."
