import { z } from "zod"
import { countText } from "../../../../lib/count-text.ts"
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
    "with a terminal. End lines with \\n. `end` closes its input afterwards. Others may write " +
    "too. To be able to repeat a call safely, pass a `writer` and its `offset`: 0 first, then " +
    "the `offset` of the previous answer.",
  input: z.strictObject({
    execution_id: executionId,
    text: z.string().default("").describe("the text to write; at most 1 MiB"),
    end: z.boolean().default(false).describe("close the standard input afterwards"),
    writer: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe("a random name that nobody else would make up, the same in all your calls"),
    offset: z
      .int()
      .min(0)
      .optional()
      .describe("bytes that `writer` has written before, so that nothing is written twice"),
  }),
  output: z.object({
    execution_id: z.string(),
    accepted: z.int().describe("bytes that were written"),
    offset: z.int().optional().describe("bytes that `writer` has written in total"),
  }),
  examples: {
    input: { execution_id: exampleExecution.execution_id, text: "yes\n" },
    output: { execution_id: exampleExecution.execution_id, accepted: 4 },
    note: "4 bytes written.",
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  needs: () => ["control"],
  async answer({ execution_id, text, end, writer, offset }, { operations, caller }) {
    if (offset !== undefined && writer === undefined) return fail(writerMissing())
    const data = new TextEncoder().encode(text)
    if (data.length > maxInputBytes) {
      const message = `Input of ${data.length} bytes is too much for one call: send at most 1 MiB.`
      return fail(failure("INVALID_PARAMS", message))
    }
    const taken = await operations.input(caller, execution_id, { data, end, writer, offset })
    if (!taken.ok) return taken
    const { accepted, offset: all } = taken.value
    // Without a name it would count the bytes of everybody, which is of no use to one of several.
    const counted = writer === undefined ? {} : { offset: all }
    const closed = end ? " Its input is now closed." : ""
    return reply(`${countText(accepted, "byte")} written.${closed}`, {
      execution_id,
      accepted,
      ...counted,
    })
  },
})

/** A name that models think of themselves would be the same for two of them. */
function writerMissing() {
  const writer = crypto.getRandomValues(new Uint8Array(8)).toHex()
  const message = `An \`offset\` needs a \`writer\`, whose bytes it counts: pass "${writer}", say.`
  return failure("INVALID_PARAMS", message)
}
