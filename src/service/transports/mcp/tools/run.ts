import { z } from "zod"
import { type ExecutionRecord, hasEnded } from "../../../../execution/record.ts"
import { ok, type Result } from "../../../../lib/result.ts"
import { afterDeed } from "../../../../protocol/failed-after.ts"
import type { Failure } from "../../../../protocol/failure.ts"
import { ExecutionSummary, exampleExecution, sentenceOf, summaryOf } from "../execution-summary.ts"
import { type Excerpt, excerptOf, excerptText } from "../output/excerpt.ts"
import type { McpScope } from "../ports.ts"
import type { Call } from "./call.ts"
import { runsCommands, StartArguments, startExecution } from "./start.ts"
import { reply, type TaskCreated, type ToolReply, tool } from "./tool.ts"
import { waitForEnd } from "./wait-for-end.ts"

const mostShownBytes = 100_000
const usuallyShownBytes = 20_000
/** What most clients cut off takes a minute or more: by then they have their answer. */
const usuallyWaitedS = 45
const longestWaitS = 86_400
/** What is over by then is told at once: to ask for it again would take longer. */
const taskAfterMs = 500

export const ShownBytes = z.int().min(100).max(mostShownBytes).default(usuallyShownBytes)

const RunResult = ExecutionSummary.extend({
  text: z.string().describe("the output: all of it, or its beginning and its end"),
  omitted_bytes: z.int().describe("output between the beginning and the end that is not in `text`"),
  omitted_from: z.string().nullable().describe("continue from here with `output`"),
})
type RunResult = z.infer<typeof RunResult>
type RunAnswer = ToolReply<RunResult> | TaskCreated

export const runTool = tool({
  name: "run",
  title: "Run a command and wait for it",
  description:
    "Starts a command, waits for it to end, and returns its exit code and output (the " +
    "beginning and the end if it is long). Use it for commands that take seconds. If the command " +
    "is still running after `wait_s` seconds, the answer has `ended: false`: it continues, and " +
    "`wait` with its execution_id waits further. For long commands use `start`.",
  input: StartArguments.extend({
    wait_s: z
      .number()
      .min(0)
      .max(longestWaitS)
      .default(usuallyWaitedS)
      .describe("seconds to wait for it to end; more than 45 only if the client allows that"),
    max_bytes: ShownBytes.describe("how much output the answer may show"),
    on_cancel: z
      .enum(["keep", "cancel"])
      .default("keep")
      .describe("whether canceling this call also cancels the command"),
  }),
  output: RunResult,
  examples: {
    input: { command: "git status --short", cwd: "/home/me/project" },
    output: {
      ...exampleExecution,
      command: "git status --short",
      text: " M README.md\n",
      omitted_bytes: 0,
      omitted_from: null,
    },
    note: "Execution k3tq7mzxw5yhd2vbn4c6fsaelu succeeded with exit code 0 after 0.02 s; …",
  },
  annotations: runsCommands,
  needs: ({ on_cancel }) => [
    "execute",
    "read",
    ...(on_cancel === "cancel" ? (["control"] as const) : []),
  ],
  async answer({ wait_s, max_bytes, on_cancel, ...args }, scope, call) {
    const started = await startExecution(args, scope, call)
    if (!started.ok) return started
    const { id } = started.value.record
    const waitMs = call.takesTasks ? Math.min(wait_s * 1000, taskAfterMs) : wait_s * 1000
    return afterDeed<RunAnswer>({ executionId: id, done: "started" }, async () => {
      const waited = await waitForEnd(scope, call, id, waitMs)
      if (!waited.ok) return waited
      if (call.takesTasks && !hasEnded(waited.value) && !call.signal.aborted) {
        return ok({ kind: "task", record: waited.value, mostBytes: max_bytes })
      }
      if (on_cancel === "cancel") await cancelWith(scope, call, waited.value)
      return ran(scope, waited.value, max_bytes)
    })
  },
})

/** What `run` answers about an execution, ended or not. */
export async function ran(
  scope: McpScope,
  record: ExecutionRecord,
  mostBytes: number,
): Promise<Result<ToolReply<RunResult>, Failure>> {
  const read = await excerptOf(scope, record, mostBytes)
  const isGone = !read.ok && read.failure.reason === "EXPIRED"
  if (!read.ok && !isGone) return read
  // How it ended is known also when what it wrote is not kept any more.
  const excerpt = read.ok ? read.value : { ...noExcerpt, omittedBytes: bytesOf(record) }
  const text = excerptText(excerpt)
  const { omittedBytes, omittedFrom } = excerpt
  const running = " It is still running: call `wait` with this execution_id until `ended` is true."
  const further = isGone ? " Its output is no longer kept." : hasEnded(record) ? "" : running
  const structured = {
    ...summaryOf(record),
    text,
    omitted_bytes: omittedBytes,
    omitted_from: omittedFrom,
  }
  return reply(`${sentenceOf(record)}${further}`, structured, text)
}

const noExcerpt: Excerpt = { head: "", tail: "", omittedBytes: 0, omittedFrom: null }

function bytesOf({ transcript }: ExecutionRecord): number {
  return transcript.stdout.bytes + transcript.stderr.bytes
}

/** The answer goes to nobody; that it was asked for stands in the execution's own record. */
async function cancelWith(scope: McpScope, call: Call, record: ExecutionRecord): Promise<void> {
  if (!call.wasCanceled() || hasEnded(record)) return
  const canceled = await scope.operations.control(scope.caller, record.id, { type: "CANCEL" })
  if (canceled.ok) return
  const { reason } = canceled.failure
  scope.log.warn({ executionId: record.id, reason }, "a canceled call's execution continues")
}
