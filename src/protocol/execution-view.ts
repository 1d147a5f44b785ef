import { z } from "zod"
import { AgentSummary, summaryOf } from "../execution/agent.ts"
import { Placement } from "../execution/placement.ts"
import {
  ContainmentMode,
  type ExecutionRecord,
  Redacted,
  StoppedProcess,
  Survivor,
  TranscriptHashes,
} from "../execution/record.ts"
import { BudgetPolicy, TerminalSize } from "../execution/spec.ts"
import { endFacts, type Outcome, StateKind, StopCause } from "../execution/state.ts"
import { TrialPart } from "../execution/trial/announcement.ts"
import { Worktree } from "../execution/worktree.ts"
import { LimitHolders, limitHolders } from "./limit-holders.ts"
import { restartLinks, restartLinksOf } from "./restart-links.ts"

const OutcomeName = z.enum(["exited", "signaled", "stopped", "failed-to-start", "lost"])

const Streams = z.object({ stdout: z.int(), stderr: z.int() })
const Dropped = z.object({ bytes: z.int(), lines: z.int() })

/** What is told about an end: everywhere the same fields. */
export const Ending = z.object({
  outcome: OutcomeName,
  exit_code: z.int().nullable().describe("null unless the process itself exited"),
  signal: z.string().nullable(),
  cause: StopCause.nullable().describe("why it was stopped, null if it ended by itself"),
  reason: z.string().nullable().describe("why it could not start or was lost"),
})
export type Ending = z.infer<typeof Ending>

/** An execution as clients see it. */
export const ExecutionView = z.object({
  execution_id: z.string(),
  state: StateKind,
  principal: z.string(),
  command: z.string().nullable(),
  argv: z.array(z.string()),
  shell: z.boolean(),
  cwd: z.string(),
  labels: z.record(z.string(), z.string()),
  stdin: z.enum(["closed", "pipe"]),
  terminal: TerminalSize.nullable(),
  timeout: z.number().nullable().describe("seconds"),
  idle_timeout: z.number().nullable().describe("seconds"),
  budget: z.object({
    bytes: z.int(),
    lines: z.int().nullable(),
    policy: BudgetPolicy,
  }),
  limits: z.object({
    memory: z.int().nullable().describe("bytes"),
    cpu: z.number().nullable(),
    pids: z.int().nullable(),
    output: z.int().nullable().describe("bytes"),
  }),
  limits_held_by: LimitHolders,
  containment: ContainmentMode,
  pid: z.int().nullable(),
  pgid: z.int().nullable(),
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  ended_at: z.iso.datetime().nullable(),
  execution_time: z.number().describe("seconds of running, not counting pauses"),
  blocked: z.boolean(),
  stdin_bytes: z.int(),
  bytes: Streams,
  lines: Streams,
  dropped: Dropped,
  ending: Ending.nullable().describe("null until it has ended"),
  redacted: Redacted.nullable()
    .default(null)
    .describe("how often a redaction pattern matched; null without patterns"),
  hashes: TranscriptHashes.nullable(),
  stopped: z.array(StoppedProcess),
  killed_after_exit: z.array(StoppedProcess),
  survivors: z.array(Survivor),
  worktree: Worktree.optional().describe("the git worktree that an agent's session has to itself"),
  agent: AgentSummary.nullish().describe("of an agent's session; absent for a command"),
  trial: TrialPart.optional().describe("the step of a trial that it is"),
  placement: Placement.optional().describe("where in a fleet it is; absent for a node of its own"),
  ...restartLinks,
})
export type ExecutionView = z.infer<typeof ExecutionView>

export function viewOf(record: ExecutionRecord): ExecutionView {
  const { spec, transcript } = record
  const pid = record.leader?.pid ?? null
  return {
    execution_id: record.id,
    state: record.state.kind,
    principal: record.principal,
    command: spec.command,
    argv: spec.argv,
    shell: spec.shell,
    cwd: spec.cwd,
    labels: spec.labels,
    stdin: spec.stdin,
    terminal: spec.terminal,
    timeout: inSeconds(spec.wallTimeoutMs),
    idle_timeout: inSeconds(spec.idleTimeoutMs),
    budget: spec.budget,
    limits: {
      memory: spec.limits.memoryBytes,
      cpu: spec.limits.cpus,
      pids: spec.limits.pids,
      output: spec.outputLimitBytes,
    },
    limits_held_by: limitHolders(spec.limitsHeldBy),
    containment: record.containment,
    pid,
    pgid: pid,
    created_at: record.createdAt,
    started_at: record.startedAt,
    ended_at: record.endedAt,
    execution_time: record.runningMs / 1000,
    blocked: record.blocked,
    stdin_bytes: record.stdinBytes,
    bytes: { stdout: transcript.stdout.bytes, stderr: transcript.stderr.bytes },
    lines: { stdout: transcript.stdout.lines, stderr: transcript.stderr.lines },
    dropped: transcript.dropped,
    ending: endingOf(record),
    redacted: record.redacted,
    hashes: record.hashes,
    stopped: record.stopped,
    killed_after_exit: record.killedAfterExit,
    survivors: record.survivors,
    ...(record.agent ? { agent: summaryOf(record.agent) } : {}),
    ...(spec.agent?.worktree === undefined ? {} : { worktree: spec.agent.worktree }),
    ...(record.trial === undefined ? {} : { trial: record.trial }),
    ...(record.placement === undefined ? {} : { placement: record.placement }),
    ...restartLinksOf(record),
  }
}

function inSeconds(ms: number | null): number | null {
  return ms === null ? null : ms / 1000
}

function endingOf({ state }: ExecutionRecord): Ending | null {
  if (state.kind !== "ended") return null
  return { ...endFacts(state.outcome), reason: reasonOf(state.outcome) }
}

function reasonOf(outcome: Outcome): string | null {
  if (outcome.kind === "failed-to-start") return outcome.message
  if (outcome.kind === "lost") return outcome.reason
  return null
}
