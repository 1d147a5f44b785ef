import { z } from "zod"
import { ExecutionRecord } from "../../execution/record.ts"
import { Scope } from "../../execution/scope.ts"
import { TerminalSize } from "../../execution/spec.ts"
import { Labels } from "../../protocol/execute.ts"
import { executionId } from "../../protocol/execution-reference.ts"
import { Failure } from "../../protocol/failure.ts"
import { GapNotice, methods } from "../../protocol/methods.ts"
import { Screen } from "../../protocol/screen.ts"

/**
 * Methods that nodes answer each other with the record, and not with a view of it; all others are
 * those of the native protocol. A session that has attached is that feed's alone.
 */
export const recordMethods = {
  execute: {
    params: methods.execute.params,
    result: z.object({ record: ExecutionRecord, repeated: z.boolean() }),
  },
  status: { params: methods.status.params, result: z.object({ record: ExecutionRecord }) },
  watch: { params: z.object({ labels: Labels.optional() }), result: z.object({}) },
  attach: {
    params: z.object({
      execution_id: executionId,
      from: z.string(),
      scope: Scope,
      started: z.boolean().describe("by this caller, who need not be allowed to read more"),
      sizes: z.boolean(),
      screen: z.object({ scrollback: z.int().min(0) }).nullable(),
    }),
    result: z.object({
      record: ExecutionRecord,
      from: z.string(),
      available_from: z.string(),
      passed_bytes: z.int(),
      screen: Screen.nullable(),
    }),
  },
} as const

export type RecordMethod = keyof typeof recordMethods
export type AttachParams = z.infer<(typeof recordMethods)["attach"]["params"]>
export type Attached = z.infer<(typeof recordMethods)["attach"]["result"]>

export function isRecordMethod(name: string): name is RecordMethod {
  return Object.hasOwn(recordMethods, name)
}

/** What the reader of a feed tells the node that reads it for him. */
export const FeedOrder = z.discriminatedUnion("order", [
  z.object({
    order: z.literal("begin"),
    form: z.enum(["text", "bytes"]),
    bytes: z.int().positive().describe("that may be sent before more is allowed"),
  }),
  /** So much more may be sent: what came up to `next` was taken. */
  z.object({ order: z.literal("take"), bytes: z.int().min(0), next: z.string() }),
  /** Whoever reads it drives, and has taken what is before `from`. */
  z.object({ order: z.literal("drive"), acknowledges: z.boolean(), from: z.string() }),
  z.object({ order: z.literal("ack"), next: z.string() }),
  /** Reads no more, and is there all the same. */
  z.object({ order: z.literal("stand-by") }),
  z.object({ order: z.literal("no-size") }),
])
export type FeedOrder = z.infer<typeof FeedOrder>

const orderStart = '{"order":'

export function orderText(order: FeedOrder): string {
  return JSON.stringify(order)
}

export function looksLikeOrder(text: string): boolean {
  return text.startsWith(orderStart)
}

/** What a node says unasked. */
export const NodeNotice = z.discriminatedUnion("notice", [
  z.object({ notice: z.literal("greeting"), version: z.string() }),
  /** Of a watched execution, or of the feed's; it may only have grown. */
  z.object({ notice: z.literal("record"), record: ExecutionRecord, changed: z.boolean() }),
  z.object({ notice: z.literal("gap"), ...GapNotice.shape }),
  z.object({ notice: z.literal("resized"), size: TerminalSize, next: z.string() }),
  z.object({ notice: z.literal("ended"), record: ExecutionRecord }),
  z.object({ notice: z.literal("failed"), failure: Failure }),
])
export type NodeNotice = z.infer<typeof NodeNotice>

/** What a notice counts for beside output: a record is kept whole until it is read. */
export const noticeWeight = 1024
