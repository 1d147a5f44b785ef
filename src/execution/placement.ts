import { z } from "zod"
import { ExecutionId } from "./id.ts"

export const NodeName = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, "a node name has only a-z, 0-9 and inner dashes")

/** Where an execution of a fleet was placed, and as which of the tries to place it. */
export const Placed = z.object({
  node: NodeName,
  epoch: z.int().min(0).describe("which of the node's times in the fleet"),
  attempt: z.int().min(1),
})
export type Placed = z.infer<typeof Placed>

/** What a node says of executions whose node it has not heard of for too long. */
export const LossNotice = z.object({
  version: z.literal(1),
  execution_id: ExecutionId,
  placed: Placed,
  had_accepted: z.boolean().describe("false: the node never said that it would start it"),
  declared_by: NodeName,
  declared_at: z.iso.datetime(),
  reason: z.string(),
})
export type LossNotice = z.infer<typeof LossNotice>

export const lossNoticeType = "application/vnd.cc-executor.loss-notice+json"

/**
 * A DSSE envelope like a receipt's, but signed with the key of a node's certificate, which signs no
 * receipts: nobody can take the one for the other.
 */
export const SignedLossNotice = z.object({
  payloadType: z.literal(lossNoticeType),
  payload: z.string().describe("the notice's JSON in base64"),
  signatures: z.array(z.object({ keyid: z.string(), sig: z.string() })).min(1),
  certificate: z.string().describe("of the node that has signed it (PEM)"),
})
export type SignedLossNotice = z.infer<typeof SignedLossNotice>

/** The place of an execution, as the fleet tells of it. */
export const Placement = Placed.extend({
  unreachable: z.literal(true).optional().describe("the node is silent: this is what it said last"),
  loss: SignedLossNotice.optional().describe("it was declared lost"),
  evidence: z
    .string()
    .optional()
    .describe("what the node has said of it after that: no success, whatever it says"),
})
export type Placement = z.infer<typeof Placement>
