import { z } from "zod"
import { AfterAttempt, DeliveryAttempt } from "../execution/delivery.ts"
import { ExecutionId } from "../execution/id.ts"
import { TargetName } from "../execution/notify-target.ts"
import { ExecutionRecord, Position, TranscriptFacts } from "../execution/record.ts"
import { Restart } from "../execution/restart.ts"
import { TerminalSize } from "../execution/spec.ts"
import { TrialId } from "../execution/trial/announcement.ts"
import { AgentOptions } from "./agent.ts"
import type { ClientOrder } from "./agent-orders.ts"
import { UnfinishedWork } from "./agent-restart.ts"
import { Origin, PassedOnAttempt, RefusedAttempt } from "./audit-entry.ts"
import { ExecuteParams } from "./execute.ts"
import { Failure } from "./failure.ts"
import { GatewaySettings } from "./gateway-settings.ts"
import { ControlResult, InputResult } from "./methods.ts"
import { MetricSamples } from "./metric-samples.ts"
import { TrialBeginParams, TrialBegun, TrialEnded, TrialRenewed } from "./trial.ts"

/** Messages travel as JSON, which costs a tenth of a structured clone; bytes go as base64. */
const Bytes = z.string().transform((base64) => Uint8Array.fromBase64(base64))

const IpcTerminalAnswer = z.object({
  at: z.int().min(0).describe("output bytes up to the end of the query"),
  data: Bytes,
})

/** At the other end of a connection, as far as the machine tells. */
export const PeerProcess = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("one-of"), pids: z.array(z.int()) }),
  z.object({ kind: z.literal("holder"), socket: z.int().describe("the inode of its end") }),
  z.object({ kind: z.literal("elsewhere") }),
  z.object({ kind: z.literal("unknown") }),
])
export type PeerProcess = z.infer<typeof PeerProcess>

/** Who asks something about one trial. */
const ofTrial = z.object({
  origin: Origin,
  isAdmin: z.boolean(),
  peer: PeerProcess,
  trial: TrialId,
})

/** What keeps the keeper from taking work. */
export const Obstacle = z.enum([
  "disk-full",
  "inodes-used-up",
  "transcripts-full",
  "queue-full",
  "descriptors-used-up",
  "gateway-restarts",
])
export type Obstacle = z.infer<typeof Obstacle>

/** What the gateway asks of the keeper. Every request is answered, once. */
export const keeperMethods = {
  start: {
    params: z.object({
      origin: Origin,
      peer: PeerProcess.optional().describe("given while trials are open"),
      exempt: z.boolean().describe("the limits of one principal do not bind it"),
      request: ExecuteParams,
      follow: z.boolean().describe("as if `follow` were asked in the same breath"),
      agent: AgentOptions.optional().describe("an agent's session, and not a command"),
      goesOnWith: z
        .object({ executionId: ExecutionId, work: UnfinishedWork })
        .optional()
        .describe("a session that ended with the service before this one"),
      worktreeOf: ExecutionId.optional().describe("whose worktree it goes on in"),
    }),
    result: z.object({
      record: ExecutionRecord,
      repeated: z.boolean(),
      note: z.string().optional(),
    }),
  },
  /** Goes on with a session that ended with the service; answers what became of it. */
  restart: {
    params: z.object({
      executionId: ExecutionId,
      work: z.union([UnfinishedWork, z.object({ unreadable: z.string() })]),
    }),
    result: z.object({ restart: Restart }),
  },
  control: {
    params: z.object({
      origin: Origin,
      executionId: ExecutionId,
      type: z.enum(["PAUSE", "RESUME", "CANCEL", "SIGNAL"]),
      signal: z.union([z.string(), z.int()]).optional(),
    }),
    result: ControlResult,
  },
  input: {
    params: z.object({
      origin: Origin,
      executionId: ExecutionId,
      data: Bytes,
      end: z.boolean(),
      writer: z.string().optional(),
      offset: z.int().optional(),
    }),
    result: InputResult,
  },
  /** What a terminal answers a program's queries; each is written once, however often it comes. */
  answerQueries: {
    params: z.object({ executionId: ExecutionId, answers: z.array(IpcTerminalAnswer) }),
    result: z.object({}),
  },
  /** An order to the host of an agent's session; answered when it was carried out. */
  order: {
    params: z.object({ origin: Origin, executionId: ExecutionId, order: z.custom<ClientOrder>() }),
    result: z.object({}),
  },
  /** About the worktree of a session, which may have ended. */
  worktree: {
    params: z.object({
      origin: Origin,
      executionId: ExecutionId,
      ask: z.discriminatedUnion("do", [
        z.object({ do: z.literal("changes") }),
        z.object({ do: z.literal("take") }),
        z.object({ do: z.literal("drop"), force: z.boolean() }),
      ]),
    }),
    result: z.object({ done: z.unknown() }),
  },
  resize: {
    params: z.object({ executionId: ExecutionId, size: TerminalSize }),
    result: z.object({}),
  },
  remove: {
    params: z.object({ origin: Origin, executionId: ExecutionId }),
    result: z.object({}),
  },
  beginTrial: {
    params: z.object({ origin: Origin, peer: PeerProcess, request: TrialBeginParams }),
    result: TrialBegun,
  },
  renewTrial: { params: ofTrial, result: TrialRenewed },
  endTrial: { params: ofTrial, result: TrialEnded },
  /** One message to a target, to see whether it arrives. */
  testTarget: {
    params: z.object({ origin: Origin, target: TargetName }),
    result: z.object({ delivery: ExecutionId }),
  },
  /** What has become of attempts to deliver; answered when it is written down. */
  reportAttempts: {
    params: z.object({
      reports: z.array(
        z.object({
          delivery: ExecutionId,
          target: TargetName,
          attempt: DeliveryAttempt,
          then: AfterAttempt,
        }),
      ),
    }),
    result: z.object({}),
  },
  /** Answered when the outbox would survive a loss of power, up to the one that is named. */
  syncOutbox: { params: z.object({}), result: z.object({ ordinal: z.int() }) },
  /** What the gateway has refused by itself. */
  audit: { params: z.object({ refusals: z.array(RefusedAttempt) }), result: z.object({}) },
  /** What another node of the fleet has done; answered when it is written down here as well. */
  auditPassedOn: { params: z.object({ attempt: PassedOnAttempt }), result: z.object({}) },
  live: {
    params: z.object({}),
    result: z.object({ records: z.array(ExecutionRecord) }),
  },
  /** Null when it is not live. */
  find: {
    params: z.object({ executionId: ExecutionId }),
    result: z.object({ record: ExecutionRecord.nullable() }),
  },
  /** From now on the gateway is told when this execution advances; null when it is not live. */
  follow: {
    params: z.object({ executionId: ExecutionId }),
    result: z.object({ record: ExecutionRecord.nullable() }),
  },
  /** From now on the gateway is told of every change of every execution, or no longer. */
  watch: { params: z.object({ on: z.boolean() }), result: z.object({}) },
  unfollow: { params: z.object({ executionId: ExecutionId }), result: z.object({}) },
  /** Who drives it now, and up to where the slowest of them has taken its output. */
  drivers: {
    params: z.object({
      executionId: ExecutionId,
      principals: z.array(z.string()),
      floor: Position.nullable(),
    }),
    result: z.object({}),
  },
  condition: { params: z.object({}), result: z.object({ obstacles: z.array(Obstacle) }) },
  metrics: { params: z.object({}), result: z.object({ metrics: z.array(MetricSamples) }) },
} as const

export type KeeperMethod = keyof typeof keeperMethods
/** As it is sent. */
export type KeeperRequest<Name extends KeeperMethod> = z.input<
  (typeof keeperMethods)[Name]["params"]
>
/** As it is received. */
export type KeeperParams<Name extends KeeperMethod> = z.output<
  (typeof keeperMethods)[Name]["params"]
>
export type KeeperResult<Name extends KeeperMethod> = z.output<
  (typeof keeperMethods)[Name]["result"]
>

export function isKeeperMethod(name: string): name is KeeperMethod {
  return Object.hasOwn(keeperMethods, name)
}

const Advance = z.object({ executionId: ExecutionId, transcript: TranscriptFacts })

export const KeeperMessage = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("configure"),
    settings: GatewaySettings,
    admits: z
      .boolean()
      .describe("whether clients are answered at once; else they wait for `admit`"),
  }),
  /** The journal is there to read, and the keeper does what is asked of it. */
  z.object({ kind: z.literal("admit") }),
  z.object({ kind: z.literal("answer"), id: z.int(), result: z.unknown() }),
  z.object({ kind: z.literal("refusal"), id: z.int(), failure: Failure }),
  /**
   * At most one of these is outstanding, whatever happens: the next is sent when the gateway has
   * acknowledged. In between, advances of one execution merge; past a bound, changes are replaced
   * by `resync`, and the gateway reads the journal again.
   */
  z.object({
    kind: z.literal("updates"),
    advances: z.array(Advance),
    changes: z.array(ExecutionRecord),
    resync: z.boolean(),
    outbox: z.int().optional().describe("up to this one, there may be something new to deliver"),
  }),
  z.object({ kind: z.literal("ping"), draining: z.boolean() }),
])
export type KeeperMessage = z.infer<typeof KeeperMessage>

export const GatewayMessage = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("listening"), port: z.int().nullable() }),
  z.object({ kind: z.literal("cannot-listen"), code: z.string(), message: z.string() }),
  z.object({ kind: z.literal("request"), id: z.int(), method: z.string(), params: z.unknown() }),
  z.object({ kind: z.literal("updates-received") }),
  z.object({ kind: z.literal("pong"), connections: z.int() }),
])
export type GatewayMessage = z.infer<typeof GatewayMessage>
