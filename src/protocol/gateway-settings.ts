import { z } from "zod"
import { NotifySettings } from "../execution/notify-target.ts"
import { ContainmentMode } from "../execution/record.ts"
import { Scope } from "../execution/scope.ts"
import { LimitsHeldBy } from "../execution/spec.ts"
import { FleetSettings } from "./fleet-settings.ts"
import { PolicyKind } from "./notifications.ts"

/** Where a person finds the service's command line. */
export const RunsIn = z.enum(["container", "machine"])
export type RunsIn = z.infer<typeof RunsIn>

/** What the gateway needs to know to serve: the part of the configuration that is its own. */
export const GatewaySettings = z.object({
  stateDir: z.string(),
  listen: z.object({
    hosts: z.array(z.string()).describe("empty: only the unix socket"),
    port: z.int().min(0).max(65_535),
    tls: z
      .object({ cert: z.string(), key: z.string(), clientCa: z.string().nullable() })
      .nullable()
      .describe("paths of PEM files, read by the gateway; null: plain TCP"),
  }),
  clientCertScopes: z.array(Scope),
  socketPath: z.string(),
  journalPath: z.string(),
  transcriptsPath: z.string(),
  version: z.string(),
  startedAt: z.iso.datetime().describe("when the keeper began"),
  containment: ContainmentMode,
  containmentWhy: z.string().nullable().describe("null for `cgroup`"),
  limitsHeldBy: LimitsHeldBy,
  neededOpenFiles: z.int().describe("by as many executions at once as the settings allow"),
  access: z.object({
    trustsLoopback: z
      .boolean()
      .describe("whether the service's own user needs no token on loopback"),
    ownUid: z.int().min(0),
    acceptedTokens: z
      .object({ path: z.string(), scopes: z.array(Scope) })
      .nullable()
      .describe("a file of tokens that are taken, besides those of the state directory"),
    allowedHosts: z.array(z.string()).describe("besides the addresses it listens on"),
    allowedOrigins: z.array(z.string()),
    maxConnectionsPerAddress: z.int().positive(),
    messagesPerSecond: z.number().positive(),
    requestTimeoutMs: z.number().positive(),
    runsIn: RunsIn.default("machine").describe("told to who lacks a token: where to get one"),
  }),
  maxSessions: z.int().positive(),
  maxSessionsPerPrincipal: z.int().positive(),
  streamTimeoutMs: z.number().positive(),
  maxMessageBytes: z.int().positive(),
  logLevel: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]),
  policy: PolicyKind,
  runAs: z.string().nullable().describe("whom children run as; null is the service's own user"),
  notify: NotifySettings.nullable().describe("null where nobody is told of anything"),
  fleet: FleetSettings.nullable().describe("null for a service of its own"),
  servesConsole: z.boolean().default(true).describe("the page at `/`"),
  preloadMcp: z.boolean().describe("before anybody asks for it"),
  self: z.array(z.string()).describe("how this program is started"),
})
export type GatewaySettings = z.infer<typeof GatewaySettings>
