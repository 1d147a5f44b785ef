import { z } from "zod"
import { hasEnded, StoppedProcess, Survivor } from "../../../../execution/record.ts"
import { countText } from "../../../../lib/count-text.ts"
import type { Result } from "../../../../lib/result.ts"
import { afterDeed, type Deed } from "../../../../protocol/failed-after.ts"
import type { Failure } from "../../../../protocol/failure.ts"
import type { ControlResult } from "../../../../protocol/methods.ts"
import { ExecutionSummary, exampleExecution, sentenceOf, summaryOf } from "../execution-summary.ts"
import type { McpScope } from "../ports.ts"
import { executionId, reply, type ToolReply, tool } from "./tool.ts"
import { waitForEnd } from "./wait-for-end.ts"

const Target = z.strictObject({ execution_id: executionId })
const exampleTarget = { execution_id: exampleExecution.execution_id }
const endMs = 10_000
const unended = { ended: false, succeeded: null, exit_code: null }

export const pauseTool = tool({
  name: "pause",
  title: "Pause an execution",
  description:
    "Freezes an execution with all its processes and its clocks: no timeout runs while it is " +
    "paused. `resume` lets it continue. Pausing a paused execution changes nothing.",
  input: Target,
  output: ExecutionSummary,
  examples: {
    input: exampleTarget,
    output: { ...exampleExecution, ...unended, state: "paused" },
    note: "Execution k3tq7mzxw5yhd2vbn4c6fsaelu is paused, 12.5 s; …",
  },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  needs: () => ["control", "read"],
  answer: ({ execution_id }, scope) => order(scope, execution_id, { type: "PAUSE" }),
})

export const resumeTool = tool({
  name: "resume",
  title: "Resume an execution",
  description: "Lets a paused execution continue. Resuming a running one changes nothing.",
  input: Target,
  output: ExecutionSummary,
  examples: {
    input: exampleTarget,
    output: { ...exampleExecution, ...unended, state: "running" },
    note: "Execution k3tq7mzxw5yhd2vbn4c6fsaelu is running, 12.5 s; …",
  },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  needs: () => ["control", "read"],
  answer: ({ execution_id }, scope) => order(scope, execution_id, { type: "RESUME" }),
})

export const signalTool = tool({
  name: "signal",
  title: "Send a signal to an execution",
  description:
    "Sends a signal to every process of an execution, for programs that react to it: " +
    "SIGHUP to reload a configuration, SIGINT to interrupt. To end it, use `cancel`.",
  input: Target.extend({
    signal: z
      .union([z.string().min(1).max(16), z.int().min(1).max(64)])
      .describe("a name such as SIGHUP, or its number"),
  }),
  output: ExecutionSummary,
  examples: {
    input: { ...exampleTarget, signal: "SIGHUP" },
    output: { ...exampleExecution, ...unended, state: "running" },
    note: "Execution k3tq7mzxw5yhd2vbn4c6fsaelu is running, 12.5 s; …",
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  needs: () => ["control", "read"],
  answer: ({ execution_id, signal }, scope) =>
    order(scope, execution_id, { type: "SIGNAL", signal }),
})

const Canceled = ExecutionSummary.extend({
  stopped: z.array(StoppedProcess).describe("what was ended, by which signal, and how fast"),
  left: z.array(Survivor).describe("what could not be killed; empty means that nothing is left"),
})

export const cancelTool = tool({
  name: "cancel",
  title: "Cancel an execution",
  description:
    "Ends an execution with all its processes, including detached ones: SIGTERM, a " +
    "grace period, SIGKILL, and a check whether anything is left. The answer comes when it is " +
    "gone. Its output stays readable. Canceling an ended execution changes nothing.",
  input: Target,
  output: Canceled,
  examples: {
    input: exampleTarget,
    output: {
      ...exampleExecution,
      succeeded: false,
      exit_code: null,
      signal: "SIGTERM",
      cause: "client",
      stopped: [{ pid: 4711, signal: "SIGTERM", ms: 12 }],
      left: [],
    },
    note: "Execution k3tq7mzxw5yhd2vbn4c6fsaelu was stopped after 12.5 s: client; …",
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  needs: () => ["control", "read"],
  async answer({ execution_id }, scope, call) {
    const canceled = await scope.operations.control(scope.caller, execution_id, { type: "CANCEL" })
    const isOver = !canceled.ok && canceled.failure.details?.["state"] === "ended"
    if (!canceled.ok && !isOver) return canceled
    // Its processes are gone by now; that this is on record takes another moment.
    const now = canceled.ok
      ? await afterDeed(deedOf(canceled.value), () =>
          waitForEnd(scope, call, canceled.value.execution_id, endMs),
        )
      : await waitForEnd(scope, call, execution_id, endMs)
    if (!now.ok) return now
    const { stopped, survivors: left } = now.value
    const what = isOver ? "It had already ended. " : ""
    const rest = hasEnded(now.value) ? leftText(left.length) : "Its end is not recorded yet."
    return reply(`${what}${sentenceOf(now.value)} ${rest}`, {
      ...summaryOf(now.value),
      stopped,
      left,
    })
  },
})

function leftText(left: number): string {
  if (left === 0) return "None of its processes is left."
  return `${countText(left, "process", "processes")} could not be killed.`
}

type Order = Parameters<McpScope["operations"]["control"]>[2]

async function order(
  scope: McpScope,
  executionIdGiven: string,
  wanted: Order,
): Promise<Result<ToolReply<ExecutionSummary>, Failure>> {
  const done = await scope.operations.control(scope.caller, executionIdGiven, wanted)
  if (!done.ok) return done
  const now = await afterDeed(deedOf(done.value), () =>
    scope.operations.status(scope.caller, done.value.execution_id),
  )
  if (!now.ok) return now
  return reply(sentenceOf(now.value), summaryOf(now.value))
}

function deedOf({ execution_id, status }: ControlResult): Deed {
  return { executionId: execution_id, done: status }
}
