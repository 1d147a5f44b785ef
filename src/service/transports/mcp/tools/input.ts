import { z } from "zod"
import { fail } from "../../../../lib/result.ts"
import { failure } from "../../../../protocol/failure.ts"
import { maxInputBytes } from "../../../../protocol/methods.ts"
import { exampleExecution } from "../execution-summary.ts"
import { executionId, reply, tool } from "./tool.ts"

export const inputTool = tool({
  name: "input",
  title: "Send input to an execution",
  description:
    "Writes to the standard input of a running execution that was started with stdin `pipe` or " +
    "with a terminal. End lines with \\n. `end` closes its input afterwards. `offset` " +
    "makes it safe to repeat a call: pass the `offset` of the previous answer.",
  input: z.strictObject({
    execution_id: executionId,
    text: z.string().default("").describe("the text to write; at most 1 MiB"),
    end: z.boolean().default(false).describe("close the standard input afterwards"),
    offset: z
      .int()
      .min(0)
      .optional()
      .describe("bytes written before, so that nothing is written twice"),
  }),
  output: z.object({
    execution_id: z.string(),
    accepted: z.int().describe("bytes that were written"),
    offset: z.int().describe("bytes written in total"),
  }),
  examples: {
    input: { execution_id: exampleExecution.execution_id, text: "yes\n" },
    output: { execution_id: exampleExecution.execution_id, accepted: 4, offset: 4 },
    note: "4 bytes were written.",
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  async answer({ execution_id, text, end, offset }, { operations, caller }) {
    const data = new TextEncoder().encode(text)
    if (data.length > maxInputBytes) {
      const message = `Input of ${data.length} bytes is too much for one call: send at most 1 MiB.`
      return fail(failure("INVALID_PARAMS", message))
    }
    const taken = await operations.input(caller, execution_id, { data, end, offset })
    if (!taken.ok) return taken
    const { accepted, offset: all } = taken.value
    const closed = end ? " Its input is now closed." : ""
    return reply(`${accepted} bytes were written.${closed}`, {
      execution_id,
      accepted,
      offset: all,
    })
  },
})
