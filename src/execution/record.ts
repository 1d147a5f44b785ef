import { z } from "zod"
import { AgentStatus } from "./agent.ts"
import { ExecutionId } from "./id.ts"
import { Placement } from "./placement.ts"
import { Restart } from "./restart.ts"
import { ExecutionSpec } from "./spec.ts"
import { ExecutionState } from "./state.ts"
import { TrialId, TrialPart } from "./trial/announcement.ts"

export const StreamName = z.enum(["stdout", "stderr"])
export type StreamName = z.infer<typeof StreamName>

/** A place in a transcript between two records, with enough to go there without a search. */
export const Position = z.object({
  segment: z.int().min(0).describe("number of the segment file"),
  offset: z.int().min(0).describe("byte in that file where the next record begins"),
  sequence: z.int().min(0).describe("output bytes of both streams before this position"),
  lines: z.int().min(0).describe("line ends of both streams before this position"),
})
export type Position = z.infer<typeof Position>

/**
 * A piece for a reader is at most 64 KiB. Records are a little smaller, so that the rest of a line
 * and the whole record after it make one piece, and its lines are known from headers without
 * counting.
 */
export const maxPayloadBytes = 63 * 1024

export const startOfTranscript: Position = { segment: 0, offset: 0, sequence: 0, lines: 0 }

export const Count = z.object({ bytes: z.int().min(0), lines: z.int().min(0) })
export type Count = z.infer<typeof Count>

export const TranscriptFacts = z.object({
  start: Position.describe("the oldest position still kept"),
  end: Position.describe("the position after the last record"),
  stdout: Count,
  stderr: Count,
  dropped: Count.describe(
    "dropped because of the budget, or never recorded because the disk was full",
  ),
})
export type TranscriptFacts = z.infer<typeof TranscriptFacts>

/** Output that is still kept, in bytes of both streams. */
export function retainedBytes({ start, end }: TranscriptFacts): number {
  return end.sequence - start.sequence
}

const streamHash = (stream: string) =>
  z
    .string()
    .nullable()
    .describe(
      `plain SHA-256 of everything written to standard ${stream}; null where the service was ` +
        "upgraded after the beginning had been dropped",
    )

export const TranscriptHashes = z.object({
  chain: z.string().describe("SHA-256 chain over every record, in hexadecimal"),
  stdout: streamHash("output"),
  stderr: streamHash("error"),
})
export type TranscriptHashes = z.infer<typeof TranscriptHashes>

export const ContainmentMode = z.enum(["cgroup", "best-effort"])
export type ContainmentMode = z.infer<typeof ContainmentMode>

/** A pid alone is not an identity: the kernel gives it out again. */
export const ProcessIdentity = z.object({
  pid: z.int().positive(),
  startTicks: z.int().min(0).describe("start time in clock ticks since boot, from /proc/PID/stat"),
})
export type ProcessIdentity = z.infer<typeof ProcessIdentity>

export const StoppedProcess = z.object({
  pid: z.int(),
  signal: z.string().describe("the last signal it was sent before it was gone"),
  ms: z.number().describe("from the first signal until it was gone"),
})
export type StoppedProcess = z.infer<typeof StoppedProcess>

export const Survivor = z.object({ pid: z.int(), command: z.string() })
export type Survivor = z.infer<typeof Survivor>

export const ResourceUse = z.object({
  cpuUserMs: z.number().nullable(),
  cpuSystemMs: z.number().nullable(),
  memoryPeakBytes: z.number().nullable(),
})
export type ResourceUse = z.infer<typeof ResourceUse>

export const unknownResourceUse: ResourceUse = {
  cpuUserMs: null,
  cpuSystemMs: null,
  memoryPeakBytes: null,
}

export const RanAs = z.object({
  uid: z.int().min(0),
  gid: z.int().min(0),
  user: z.string().nullable().describe("null if the machine has no such user"),
})
export type RanAs = z.infer<typeof RanAs>

export const Redacted = z.object({
  stdout: z.int().min(0),
  stderr: z.int().min(0),
  spec: z.int().min(0).describe("in the command line, directory, labels and names of variables"),
})
export type Redacted = z.infer<typeof Redacted>

/** All that is known of one execution, live or ended: journaled, and sent to the gateway. */
export const ExecutionRecord = z.object({
  id: ExecutionId,
  principal: z.string().describe("who requested it"),
  spec: ExecutionSpec,
  containment: ContainmentMode,
  ranAs: RanAs.optional().describe("absent if it is the service's own user"),
  state: ExecutionState,
  leader: ProcessIdentity.nullable(),
  createdAt: z.iso.datetime(),
  startedAt: z.iso.datetime().nullable(),
  endedAt: z.iso.datetime().nullable(),
  runningMs: z.number().min(0).describe("from start to end, not counting pauses"),
  pausedMs: z.number().min(0),
  blocked: z
    .boolean()
    .describe("the child waits because its budget is full and no driver takes output"),
  stdinBytes: z.int().min(0).describe("input bytes that the child's pipe has taken"),
  transcript: TranscriptFacts,
  hashes: TranscriptHashes.nullable().describe("null until the end"),
  redacted: Redacted.nullable()
    .default(null) // records were written before there was redaction
    .describe("how often something was redacted; null without patterns"),
  use: ResourceUse,
  stopped: z.array(StoppedProcess).describe("what was stopped, and how"),
  killedAfterExit: z.array(StoppedProcess).describe("what outlived the leader and was killed"),
  survivors: z.array(Survivor).describe("what could not be killed"),
  agent: AgentStatus.nullish().describe("of an agent's session, as its host told it last"),
  restart: Restart.optional().describe("of an agent's session that ended with the service"),
  trial: TrialPart.optional().describe("the step of a trial that it is"),
  withinTrial: TrialId.optional().describe("it was started by a step of this trial"),
  placement: Placement.optional().describe("of an execution that a fleet has placed"),
})
export type ExecutionRecord = z.infer<typeof ExecutionRecord>

export function hasEnded(record: ExecutionRecord): boolean {
  return record.state.kind === "ended"
}

/** Whether it has all of these labels, each with this value. */
export function hasLabels(
  { spec }: ExecutionRecord,
  wanted: Readonly<Record<string, string>> = {},
): boolean {
  return Object.entries(wanted).every(([name, value]) => spec.labels[name] === value)
}

/** An execution, as far as it matters to whom it belongs. */
export type Owned = { principal: string; labels: Readonly<Record<string, string>> }

/**
 * Labels by which an owner lets others in: names of principals separated by commas, or `*`. Who is
 * let in still needs the scope for what it asks.
 */
export const shareLabels = { see: "share", steer: "share-control" } as const
