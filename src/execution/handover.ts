import { z } from "zod"
import { ExecutionId } from "./id.ts"
import { ContainmentMode, Count, ExecutionRecord, ProcessIdentity, StreamName } from "./record.ts"
import { LimitsHeldBy } from "./spec.ts"

/**
 * What one program tells the next that takes its process over: the same pid, the same children, and
 * the descriptors named here, which stay open. Everything else is read from the state directory.
 */

const descriptor = z.int().min(0)

const HandedOutput = z.object({
  stream: StreamName,
  fd: descriptor.nullable().describe("null when it has ended"),
})
export type HandedOutput = z.infer<typeof HandedOutput>

const HandedInput = z.object({
  fd: descriptor.nullable().describe("null when it is closed"),
  isInsideLine: z.boolean().describe("of a terminal: what was typed last is no whole line"),
})
export type HandedInput = z.infer<typeof HandedInput>

export const HandedChild = z.object({
  leader: ProcessIdentity,
  outputs: z.array(HandedOutput),
  input: HandedInput.nullable().describe("null where there never was one"),
  status: z
    .object({ fd: descriptor.nullable() })
    .optional()
    .describe("of the host of an agent; its descriptor is null when it has ended"),
  frozen: z.array(ProcessIdentity).describe("whom a thaw has to wake, where no cgroup does it"),
})
export type HandedChild = z.infer<typeof HandedChild>

/** Where a redactor stands inside its stream. */
export const HandedRedactor = z.object({
  stream: StreamName,
  count: z.int().min(0),
  held: z.base64().describe("bytes of which it is not known yet whether they may be recorded"),
  before: z.array(z.int()).nullable().describe("places in the patterns before these bytes"),
  isInside: z.boolean(),
})
export type HandedRedactor = z.infer<typeof HandedRedactor>

export const HandedTranscript = z.object({
  chain: z.hex(),
  discarded: Count.describe("read, but never recorded"),
})
export type HandedTranscript = z.infer<typeof HandedTranscript>

/** How much of each clock has run. */
export const HandedClocks = z.object({
  runningMs: z.number().min(0),
  pausedMs: z.number().min(0),
  wallMs: z.number().min(0),
  idleMs: z.number().min(0),
})
export type HandedClocks = z.infer<typeof HandedClocks>

export const HandedExecution = z.object({
  record: ExecutionRecord,
  exempt: z.boolean(),
  child: HandedChild,
  clocks: HandedClocks,
  isInputClosed: z.boolean(),
  inputWriters: z
    .array(z.tuple([z.string(), z.string(), z.int().min(0)]))
    .default([]) // programs before this one knew no writers
    .describe("principal, name, and how many bytes of each writer the child has taken"),
  answeredTo: z
    .int()
    .nullable()
    .default(null) // programs before this one answered no queries
    .describe("output bytes up to the last query of its terminal that was answered"),
  transcript: HandedTranscript,
  takenBytes: z.int().min(0),
  takenStdoutBytes: z.int().min(0).default(0),
  isDiskFull: z.boolean().describe("nothing more of it is recorded, only counted"),
  agentHeld: z.string().default("").describe("the beginning of what its host says"),
  redactors: z.array(HandedRedactor),
})
export type HandedExecution = z.infer<typeof HandedExecution>

const Seen = z.array(ProcessIdentity)

/** What was learned of processes that no cgroup holds together. */
export const HandedForest = z.object({
  trees: z.array(
    z.object({ id: ExecutionId, leader: ProcessIdentity, hasSession: z.boolean(), seen: Seen }),
  ),
  strays: z.array(z.object({ identity: ProcessIdentity, suspects: z.array(ExecutionId) })),
  bystanders: Seen,
})
export type HandedForest = z.infer<typeof HandedForest>

export const HandedContainment = z.object({
  mode: ContainmentMode,
  why: z.string().nullable(),
  cgroupBase: z.string().nullable(),
  holders: LimitsHeldBy,
  forest: HandedForest,
})
export type HandedContainment = z.infer<typeof HandedContainment>
