import { z } from "zod"
import { ContainmentMode } from "../execution/record.ts"
import { StateKind } from "../execution/state.ts"
import { LimitHolders } from "./limit-holders.ts"

const ProcessLimit = z.object({
  limit: z.int().nullable().describe("null for none"),
  maximum: z.int().nullable().describe("to which it can be raised; null for none"),
})

export const HealthReport = z.object({
  status: z.literal("ok"),
  version: z.string(),
  uptime_s: z.number().min(0).describe("of the service"),
  gateway_uptime_s: z.number().min(0).describe("of the process that serves clients"),
  containment: ContainmentMode.describe("how the processes of an execution are tracked"),
  containment_reason: z
    .string()
    .nullable()
    .optional()
    .describe("why it is not `cgroup`; this and the next three are absent in older versions"),
  limits_held_by: LimitHolders.optional().describe(
    "what can hold executions to each limit; null for what nothing can",
  ),
  open_files: ProcessLimit.extend({
    needed: z.int().describe("by as many executions at once as the settings allow"),
  })
    .optional()
    .describe("that the service may have"),
  processes: ProcessLimit.optional().describe("that the service's user may have"),
  sessions: z.int().min(0).describe("open WebSocket sessions"),
  executions: z
    .partialRecord(StateKind, z.int().min(0))
    .describe("how many are in each state, not counting ended ones"),
  rss_bytes: z
    .object({ keeper: z.int().min(0).nullable(), gateway: z.int().min(0).nullable() })
    .describe("memory used by the service's two processes, null if it cannot be read"),
  certificate_expires_at: z.iso
    .datetime()
    .nullable()
    .describe("of the TLS certificate in use, null without TLS"),
})
export type HealthReport = z.infer<typeof HealthReport>
export type HealthFacts = Required<Omit<HealthReport, "status" | "version">>

const count = z.int().min(0)

export const HistorySample = z.object({
  at: z.iso.datetime(),
  sessions: count.describe("open WebSocket sessions"),
  executions: count.describe("that have not ended"),
  rss_bytes: HealthReport.shape.rss_bytes,
  output_bytes: count.nullable().describe("written since the service began; null if unknown"),
  dropped_bytes: count.nullable().describe("dropped since the service began"),
})
export type HistorySample = z.infer<typeof HistorySample>

export const History = z.object({
  every_s: z.number().describe("seconds between two samples"),
  samples: z
    .array(HistorySample)
    .describe("of the last hour, oldest first; none from before the gateway was started last"),
})

/** All that somebody is told who is no admin. */
const Alive = z.object({ status: z.literal("ok") })

export const Health = z.union([HealthReport, Alive])
export type Health = z.infer<typeof Health>

const Unreadiness = z.object({
  name: z.string().describe("a stable name for what is wrong"),
  message: z.string(),
  action: z.string().describe("what to do about it"),
  passes: z.boolean().describe("whether it passes by itself, for example when executions end"),
})
export type Unreadiness = z.infer<typeof Unreadiness>

export const Ready = z.object({ ready: z.literal(true) })
export const NotReady = z.object({ ready: z.literal(false), reasons: z.array(Unreadiness).min(1) })
