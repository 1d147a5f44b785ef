import { z } from "zod"
import { AgentSpec } from "../execution/agent.ts"
import { HandedContainment, HandedExecution } from "../execution/handover.ts"
import { ExecutionRecord } from "../execution/record.ts"
import { ExecutionSpec } from "../execution/spec.ts"
import { HostRestart } from "./agent-restart.ts"
import { ExecuteParams } from "./execute.ts"

/** Which form of it a program understands. */
export const handoverFormat = 2

export const HandedExecutions = z.object({
  executions: z.array(HandedExecution),
  queued: z.array(
    z.object({
      record: ExecutionRecord,
      exempt: z.boolean(),
      planned: ExecutionSpec,
      request: ExecuteParams,
      agent: z
        .object({
          spec: AgentSpec,
          first: z.object({ turnId: z.string().nullable(), content: z.string() }).nullable(),
          restart: HostRestart.nullable().default(null),
        })
        .nullable()
        .default(null),
    }),
  ),
})
export type HandedExecutions = z.infer<typeof HandedExecutions>

/** Everything that a keeper leaves to the program that takes its process over. */
export const Handover = HandedExecutions.extend({
  format: z.literal(handoverFormat),
  version: z.string().describe("of the program that hands over"),
  upgrade: z.string().describe("names the attempt, for whoever asked for it"),
  uptimeMs: z.number().describe("of the machine, when the clocks were read"),
  startedAt: z.iso.datetime().describe("of the service"),
  port: z.int().nullable().describe("the one it listens on; null for the unix socket only"),
  lockFd: z.int().min(0).describe("holds the lock of the state directory"),
  redaction: z.string().nullable().describe("names the patterns that outputs are redacted by"),
  containment: HandedContainment,
  endSignal: z.enum(["SIGTERM", "SIGINT"]).nullable().describe("told to end meanwhile"),
})
export type Handover = z.infer<typeof Handover>

/** What a program answers when it is asked, before anything happens, whether it could take over. */
export const UpgradeCheck = z.object({
  version: z.string(),
  handover: z.int().describe("the form of a handover it understands"),
  state: z.int().describe("the version of state directories that it brings them up to"),
  journal: z.int().describe("the same of journals"),
})
export type UpgradeCheck = z.infer<typeof UpgradeCheck>
