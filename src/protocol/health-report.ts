import { z } from "zod"
import { ContainmentMode } from "../execution/record.ts"
import { StateKind } from "../execution/state.ts"

export const HealthReport = z.object({
  status: z.literal("ok"),
  version: z.string(),
  uptime_s: z.number().min(0).describe("of the service"),
  gateway_uptime_s: z.number().min(0).describe("of the process that talks to clients"),
  containment: ContainmentMode.describe("what holds the processes of an execution together"),
  sessions: z.int().min(0).describe("WebSocket sessions that are open"),
  executions: z
    .partialRecord(StateKind, z.int().min(0))
    .describe("how many are in each state; ended ones are not counted"),
  rss_bytes: z
    .object({ keeper: z.int().min(0).nullable(), gateway: z.int().min(0).nullable() })
    .describe("memory in use by the service's two processes, null where it cannot be read"),
  certificate_expires_at: z.iso
    .datetime()
    .nullable()
    .describe("of the TLS certificate in use, null without TLS"),
})
export type HealthFacts = Omit<z.infer<typeof HealthReport>, "status" | "version">

/** All that somebody is told who is no admin. */
const Alive = z.object({ status: z.literal("ok") })

export const Health = z.union([HealthReport, Alive])
export type Health = z.infer<typeof Health>

const Unreadiness = z.object({
  name: z.string().describe("a stable name for what is wrong"),
  message: z.string(),
  action: z.string().describe("what to do about it"),
  passes: z.boolean().describe("whether it passes by itself, as when executions end"),
})
export type Unreadiness = z.infer<typeof Unreadiness>

export const Ready = z.object({ ready: z.literal(true) })
export const NotReady = z.object({ ready: z.literal(false), reasons: z.array(Unreadiness).min(1) })
