import { z } from "zod"
import { AgentSpec } from "./agent.ts"

export const TerminalSize = z.object({
  cols: z.int().min(1).max(4096),
  rows: z.int().min(1).max(4096),
})
export type TerminalSize = z.infer<typeof TerminalSize>

export const BudgetPolicy = z.enum(["drop-oldest", "block"])
export type BudgetPolicy = z.infer<typeof BudgetPolicy>

export const Budget = z.object({
  bytes: z.int().min(1024).describe("output kept for an execution, both streams together"),
  lines: z.int().min(1).nullable().describe("lines kept; null means no limit"),
  policy: BudgetPolicy.describe(
    "at the budget: drop the oldest segments, or make the child wait for its drivers",
  ),
})
export type Budget = z.infer<typeof Budget>

export const ResourceLimits = z.object({
  memoryBytes: z.int().positive().nullable(),
  cpus: z.number().positive().nullable().describe("processors; 0.5 is half of one"),
  pids: z.int().positive().nullable(),
})
export type ResourceLimits = z.infer<typeof ResourceLimits>

export const LimitHolder = z
  .enum(["cgroup", "rlimit"])
  .describe("a cgroup counts the whole tree, an rlimit each process separately")
export type LimitHolder = z.infer<typeof LimitHolder>

/** What holds an execution to each limit; null where nothing does, or nothing has to. */
export const LimitsHeldBy = z.object({
  memoryBytes: LimitHolder.nullable(),
  cpus: LimitHolder.nullable(),
  pids: LimitHolder.nullable(),
})
export type LimitsHeldBy = z.infer<typeof LimitsHeldBy>

export const heldByNothing: LimitsHeldBy = { memoryBytes: null, cpus: null, pids: null }

/** What an execution is, as it was decided: everything the receipt may say about the request. */
export const ExecutionSpec = z.object({
  command: z.string().nullable().describe("the requested command line, null if argv was given"),
  argv: z.array(z.string()).min(1).describe("what is executed"),
  shell: z.boolean().describe("whether argv runs the command line in the configured shell"),
  cwd: z.string(),
  envNames: z.array(z.string()).describe("names the request added; values are never recorded"),
  stdin: z.enum(["closed", "pipe"]),
  terminal: TerminalSize.nullable(),
  wallTimeoutMs: z.number().positive().nullable(),
  idleTimeoutMs: z.number().positive().nullable(),
  budget: Budget,
  limits: ResourceLimits,
  // Records that are older have neither of these; their limits were held by cgroups.
  limitsHeldBy: LimitsHeldBy.default(heldByNothing),
  outputLimitBytes: z
    .int()
    .positive()
    .nullable()
    .default(null)
    .describe("bytes of both streams after which it is stopped; null means no limit"),
  onDisconnect: z.enum(["keep", "cancel"]),
  labels: z.record(z.string(), z.string()),
  notify: z.array(z.string()).optional().describe("targets that are told of it, by their names"),
  agent: AgentSpec.optional().describe("of an agent's session; absent for a command"),
})
export type ExecutionSpec = z.infer<typeof ExecutionSpec>
