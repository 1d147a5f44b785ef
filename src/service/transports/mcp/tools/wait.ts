import { z } from "zod"
import { hasEnded } from "../../../../execution/record.ts"
import { ExecutionSummary, exampleExecution, sentenceOf, summaryOf } from "../execution-summary.ts"
import { newestOutput } from "../output/newest-output.ts"
import { executionId, reply, tool } from "./tool.ts"
import { waitForEnd } from "./wait-for-end.ts"

const longestWaitS = 45
const mostNewestBytes = 10_000

export const waitTool = tool({
  name: "wait",
  title: "Wait for an execution",
  description:
    "Waits until an execution has ended, at most 45 seconds, and returns its state, the " +
    "elapsed time and its latest lines of output. If `ended` is false it is still running: call " +
    "`wait` again, as often as needed. With timeout_s 0 it returns the current state at once.",
  input: z.strictObject({
    execution_id: executionId,
    timeout_s: z.number().min(0).max(longestWaitS).default(longestWaitS),
    lines: z.int().min(0).max(200).default(10).describe("newest lines of output to show"),
  }),
  output: ExecutionSummary.extend({
    newest: z.string().describe("the newest lines of output"),
    next: z.string().nullable().describe("continue after them with `output` from here"),
  }),
  examples: {
    input: { execution_id: exampleExecution.execution_id },
    output: { ...exampleExecution, newest: "All tests passed\n", next: "1.0.qp.1c4e.xg.0" },
    note: "Execution k3tq7mzxw5yhd2vbn4c6fsaelu succeeded with exit code 0 after 93.4 s; …",
  },
  annotations: { readOnlyHint: true, idempotentHint: true },
  needs: () => ["read"],
  async answer({ execution_id, timeout_s, lines }, scope, call) {
    const waited = await waitForEnd(scope, call, execution_id, timeout_s * 1000)
    if (!waited.ok) return waited
    const record = waited.value
    const wanted = { lines, mostBytes: mostNewestBytes, stream: null }
    // What it wrote may not be kept any more; how it ended is known all the same.
    const newest = lines === 0 ? null : await newestOutput(scope, record, wanted)
    const output = newest?.ok === true ? newest.value : null
    const further = hasEnded(record) ? "" : " Still running: call `wait` again."
    const text = output?.text ?? ""
    const structured = {
      ...summaryOf(record),
      newest: text,
      next: output?.next ?? null,
    }
    const body = text === "" ? "" : `Newest output:\n${text}`
    return reply(`${sentenceOf(record)}${further}`, structured, body)
  },
})
