import { z } from "zod"
import {
  type ExecutionRecord,
  hasEnded,
  Redacted,
  Survivor,
  TranscriptHashes,
} from "../execution/record.ts"
import { Ending, ExecutionView, endingOf } from "./execution-view.ts"
import { WireError } from "./failure.ts"
import { GapNotice, OutputChunk } from "./methods.ts"

const execution_id = z.string()
const Streams = z.object({ stdout: z.int(), stderr: z.int() })

const LifeSign = z.object({
  execution_id,
  status: z.string(),
  pid: z.int().nullable(),
  pgid: z.int().nullable(),
})

export const Completed = z.object({
  execution_id,
  status: z.enum(["completed", "failed"]).describe("`completed` means exit code 0, nothing else"),
  ...Ending.shape,
  execution_time: z.number().describe("seconds of running, not counting pauses"),
  bytes: Streams,
  lines: Streams,
  dropped: z.object({ bytes: z.int(), lines: z.int() }),
  redacted: Redacted.nullable()
    .default(null)
    .describe("how often a redaction pattern matched; null without patterns"),
  hashes: TranscriptHashes.nullable(),
  survivors: z.array(Survivor),
})
export type Completed = z.infer<typeof Completed>

/** Whether every program may be executed, or only those of a list. */
export const PolicyKind = z.enum(["everything", "allow-list"])
export type PolicyKind = z.infer<typeof PolicyKind>

/** Everything the server says unasked. */
export const notifications = {
  connected: z.object({
    session_id: z.string(),
    version: z.string(),
    capabilities: z.array(z.string()),
    policy: PolicyKind.optional().describe(
      "with an allow-list, requests are checked more strictly",
    ),
    run_as: z
      .string()
      .optional()
      .describe("the user that commands run as, if not the service's own"),
  }),
  "process.started": LifeSign,
  "process.paused": LifeSign,
  "process.resumed": LifeSign,
  "process.canceled": LifeSign,
  "process.output": z.object({ execution_id, ...OutputChunk.shape }),
  "process.gap": z.object({ execution_id, ...GapNotice.shape }),
  "process.completed": Completed,
  "process.error": z.object({ execution_id, error: WireError }),
  "execution.changed": ExecutionView,
} as const

export type NotificationName = keyof typeof notifications
export type NotificationOf<Name extends NotificationName> = z.infer<(typeof notifications)[Name]>

export function completedOf(record: ExecutionRecord): Completed | null {
  const ending = endingOf(record)
  if (!hasEnded(record) || ending === null) return null
  const { transcript } = record
  const succeeded = ending.outcome === "exited" && ending.exit_code === 0
  return {
    execution_id: record.id,
    status: succeeded ? "completed" : "failed",
    ...ending,
    execution_time: record.runningMs / 1000,
    bytes: { stdout: transcript.stdout.bytes, stderr: transcript.stderr.bytes },
    lines: { stdout: transcript.stdout.lines, stderr: transcript.stderr.lines },
    dropped: transcript.dropped,
    redacted: record.redacted,
    hashes: record.hashes,
    survivors: record.survivors,
  }
}
