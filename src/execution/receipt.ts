import { z } from "zod"
import { AgentStatus, TurnOutcome } from "./agent.ts"
import { ExecutionId } from "./id.ts"
import { Placed } from "./placement.ts"
import {
  ContainmentMode,
  type ExecutionRecord,
  Redacted,
  ResourceUse,
  StoppedProcess,
  Survivor,
  TranscriptFacts,
  TranscriptHashes,
} from "./record.ts"
import { ExecutionSpec } from "./spec.ts"
import { Outcome } from "./state.ts"
import { TrialPart } from "./trial/announcement.ts"

/** What the server attests about an ended execution. Receipts outlive transcripts. */
export const Receipt = z.object({
  version: z.literal(1),
  execution_id: ExecutionId,
  principal: z.string(),
  spec: ExecutionSpec,
  containment: ContainmentMode,
  ran_as: z
    .object({
      uid: z.int(),
      gid: z.int().optional(),
      user: z.string().optional(),
      same_user_as_service: z.boolean(),
    })
    .describe("a child running as the service's own user could have read the signing key"),
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  ended_at: z.iso.datetime(),
  running_ms: z.number(),
  paused_ms: z.number(),
  outcome: Outcome,
  transcript: TranscriptFacts,
  hashes: TranscriptHashes.nullable().describe(
    "null if the record was lost before the execution ended",
  ),
  redacted: Redacted.nullable()
    .optional() // receipts were signed before there was redaction
    .describe("how often something was redacted before it was recorded; null without patterns"),
  stdin_bytes: z.int(),
  use: ResourceUse,
  stopped: z.array(StoppedProcess),
  killed_after_exit: z.array(StoppedProcess),
  survivors: z.array(Survivor),
  agent: AgentStatus.pick({
    agent: true,
    agent_version: true,
    session_id: true,
    resumed_from: true,
    turns: true,
    usage: true,
    end: true,
  })
    .extend({
      last_turn: z.object({ outcome: TurnOutcome }).nullish().describe("how it ended"),
    })
    .nullish()
    .describe("of an agent's session, as its host told it last"),
  trial: TrialPart.optional().describe("the step of a trial that it was"),
  placed: Placed.optional().describe("where a fleet had placed it"),
})
export type Receipt = z.infer<typeof Receipt>

/** A DSSE envelope: the signature is over the exact payload bytes that are stored. */
export const SignedReceipt = z.object({
  payloadType: z.literal("application/vnd.cc-executor.receipt+json"),
  payload: z.string().describe("the receipt's JSON in base64"),
  signatures: z
    .array(z.object({ keyid: z.string(), sig: z.string().describe("Ed25519, base64") }))
    .min(1),
})
export type SignedReceipt = z.infer<typeof SignedReceipt>

/** With the uid of the service. */
export function receiptOf(record: ExecutionRecord, uid: number): Receipt | null {
  if (record.state.kind !== "ended" || record.endedAt === null) return null
  return {
    version: 1,
    execution_id: record.id,
    principal: record.principal,
    spec: record.spec,
    containment: record.containment,
    ran_as: ranAs(record, uid),
    created_at: record.createdAt,
    started_at: record.startedAt,
    ended_at: record.endedAt,
    running_ms: record.runningMs,
    paused_ms: record.pausedMs,
    outcome: record.state.outcome,
    transcript: record.transcript,
    hashes: record.hashes,
    redacted: record.redacted,
    stdin_bytes: record.stdinBytes,
    use: record.use,
    stopped: record.stopped,
    killed_after_exit: record.killedAfterExit,
    survivors: record.survivors,
    ...agentOf(record),
    ...(record.trial === undefined ? {} : { trial: record.trial }),
    ...placedOf(record),
  }
}

function agentOf({ agent: status }: ExecutionRecord): Pick<Receipt, "agent"> {
  if (status === null || status === undefined) return {}
  const { agent, agent_version, session_id, resumed_from, turns, usage, end } = status
  const last_turn = status.last_turn && { outcome: status.last_turn.outcome }
  return { agent: { agent, agent_version, session_id, resumed_from, turns, usage, end, last_turn } }
}

function placedOf({ placement }: ExecutionRecord): Pick<Receipt, "placed"> {
  if (placement === undefined) return {}
  const { node, epoch, attempt } = placement
  return { placed: { node, epoch, attempt } }
}

function ranAs({ ranAs: other }: ExecutionRecord, serviceUid: number): Receipt["ran_as"] {
  if (other === undefined) return { uid: serviceUid, same_user_as_service: true }
  const { uid, gid, user } = other
  const same_user_as_service = uid === serviceUid
  return { uid, gid, ...(user === null ? {} : { user }), same_user_as_service }
}

/** DSSE's pre-authentication encoding: binds the type to the payload before anything is signed. */
export function signedBytes(payloadType: string, payload: Uint8Array): Uint8Array {
  const encoder = new TextEncoder()
  const type = encoder.encode(payloadType)
  const head = encoder.encode(`DSSEv1 ${type.length} ${payloadType} ${payload.length} `)
  const bytes = new Uint8Array(head.length + payload.length)
  bytes.set(head)
  bytes.set(payload, head.length)
  return bytes
}
