import { z } from "zod"
import type { ExecutionRecord } from "../../../execution/record.ts"
import { StateKind, StopCause } from "../../../execution/state.ts"
import { countText } from "../../../lib/count-text.ts"
import { ExecutionView, viewOf } from "../../../protocol/execution-view.ts"

const { shape } = ExecutionView

/** An execution as a model needs to know it: not all there is, but nothing that misleads. */
export const ExecutionSummary = z.object({
  execution_id: z.string().describe("pass this to the other tools"),
  state: StateKind.describe("`ended` is final; `paused` continues only after `resume`"),
  ended: z.boolean(),
  succeeded: z.boolean().nullable().describe("true only for exit code 0; null until it has ended"),
  exit_code: z.int().nullable().describe("null unless the process itself exited"),
  signal: z.string().nullable().describe("the signal that ended it, if one did"),
  cause: StopCause.nullable().describe("why it was stopped; null if it ended by itself"),
  reason: z.string().nullable().describe("why it could not start, or was lost"),
  command: z.string().describe("shortened if it is long"),
  cwd: z.string(),
  labels: z.record(z.string(), z.string()),
  created_at: z.iso.datetime(),
  elapsed_s: z.number().describe("seconds of running, not counting pauses"),
  bytes: shape.bytes.describe("written so far"),
  lines: shape.lines,
  dropped: shape.dropped.describe("output that is no longer kept"),
  survivors: z.array(z.int()).describe("processes that could not be killed; usually none"),
})
export type ExecutionSummary = z.infer<typeof ExecutionSummary>

export function summarize(view: ExecutionView): ExecutionSummary {
  const { ending } = view
  return {
    execution_id: view.execution_id,
    state: view.state,
    ended: ending !== null,
    succeeded: ending === null ? null : ending.outcome === "exited" && ending.exit_code === 0,
    exit_code: ending?.exit_code ?? null,
    signal: ending?.signal ?? null,
    cause: ending?.cause ?? null,
    reason: ending?.reason ?? null,
    command: shortened(view.command ?? view.argv.join(" ")),
    cwd: shortened(view.cwd),
    labels: view.labels,
    created_at: view.created_at,
    elapsed_s: Math.round(view.execution_time * 1000) / 1000,
    bytes: view.bytes,
    lines: view.lines,
    dropped: view.dropped,
    survivors: view.survivors.map(({ pid }) => pid),
  }
}

/** A command line may be a megabyte long; its resource has all of it. */
const mostCharacters = 500

function shortened(text: string): string {
  return text.length <= mostCharacters ? text : `${text.slice(0, mostCharacters)}…`
}

export function summaryOf(record: ExecutionRecord): ExecutionSummary {
  return summarize(viewOf(record))
}

/** One sentence: what became of it, and how much it wrote. */
export function sentenceOf(record: ExecutionRecord): string {
  const summary = summaryOf(record)
  return `Execution ${summary.execution_id} ${outcomeText(summary)}; ${outputOf(summary)}.`
}

export function outcomeText(summary: ExecutionSummary): string {
  const after = `after ${summary.elapsed_s} s`
  if (!summary.ended) {
    return summary.state === "queued"
      ? "is waiting in the queue"
      : `is ${summary.state}, ${summary.elapsed_s} s`
  }
  if (summary.cause !== null) return `was stopped ${after}: ${summary.cause}`
  if (summary.exit_code !== null) {
    const how = summary.exit_code === 0 ? "succeeded" : "FAILED"
    return `${how} with exit code ${summary.exit_code} ${after}`
  }
  if (summary.signal !== null) return `was ended by ${summary.signal} ${after}`
  return `failed: ${summary.reason ?? "unknown reason"}`
}

function outputOf({ bytes, lines, dropped }: ExecutionSummary): string {
  const all =
    `${countText(bytes.stdout + bytes.stderr, "byte")} in ` +
    `${countText(lines.stdout + lines.stderr, "line")} written`
  return dropped.bytes === 0 ? all : `${all}, of which the oldest ${dropped.bytes} were dropped`
}

export const exampleExecution: ExecutionSummary = {
  execution_id: "k3tq7mzxw5yhd2vbn4c6fsaelu",
  state: "ended",
  ended: true,
  succeeded: true,
  exit_code: 0,
  signal: null,
  cause: null,
  reason: null,
  command: "make -j8 test",
  cwd: "/home/me/project",
  labels: {},
  created_at: "2026-11-17T08:00:00.000Z",
  elapsed_s: 93.4,
  bytes: { stdout: 48_210, stderr: 112 },
  lines: { stdout: 1204, stderr: 3 },
  dropped: { bytes: 0, lines: 0 },
  survivors: [],
}
