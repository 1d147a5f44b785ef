import { z } from "zod"
import { ExecutionId } from "../execution/id.ts"
import { NodeName, SignedLossNotice } from "../execution/placement.ts"
import { SignedReceipt } from "../execution/receipt.ts"
import { ExecutionRecord } from "../execution/record.ts"

/** What stands in the tables of the engine: it can be made again from the nodes' journals. */

/** With the key that signs a node's receipts, by the key of its certificate. */
export const NodeKey = z.object({
  receiptKey: z.string().describe("Ed25519, PEM"),
  certificate: z.string().describe("the node's own, PEM"),
  signature: z.string().describe("base64, over the node's name and its receipt key"),
})
export type NodeKey = z.infer<typeof NodeKey>

/** A node's lease. Nobody else writes it; each renewal counts `beat` on. */
export const NodeEntry = z.object({
  instance: z.string().describe("of the process that holds the lease"),
  epoch: z.int().min(0).describe("the revision at which it joined; 0 while it joins"),
  beat: z.int().min(0),
  address: z.string().describe("HOST:PORT for other nodes"),
  labels: z.record(z.string(), z.string()),
  slots: z.int(),
  running: z.int().describe("executions that have not ended"),
  version: z.string(),
  key: NodeKey,
})
export type NodeEntry = z.infer<typeof NodeEntry>

/** What somebody has ordered about a node. */
export const NodeOrder = z.object({
  drained: z.boolean(),
  forgotten: z.boolean(),
  by: z.string(),
  at: z.iso.datetime(),
})
export type NodeOrder = z.infer<typeof NodeOrder>

const placed = { node: NodeName, epoch: z.int(), attempt: z.int() }

/** Where one execution is. Whoever changes it names the revision it was decided on. */
export const PlacementEntry = z.discriminatedUnion("state", [
  z.object({ state: z.literal("assigned"), ...placed, front: NodeName }),
  z.object({ state: z.literal("accepted"), ...placed }),
  z.object({ state: z.literal("ended"), ...placed }),
  /** Nothing was started, and nothing will be by this attempt. */
  z.object({ state: z.literal("refused"), ...placed, why: z.string() }),
  z.object({ state: z.literal("lost"), ...placed, notice: SignedLossNotice }),
])
export type PlacementEntry = z.infer<typeof PlacementEntry>

/** The node's own record of an execution, and its receipt once it has ended. */
export const IndexEntry = z.object({
  record: ExecutionRecord,
  receipt: SignedReceipt.nullable(),
})
export type IndexEntry = z.infer<typeof IndexEntry>

/** What an idempotency key has started, or is about to start. */
export const KeyEntry = z.object({ executionId: ExecutionId, fingerprint: z.string() })
export type KeyEntry = z.infer<typeof KeyEntry>
