import { z } from "zod"
import { AttemptResult, DeliveryOutcome } from "../execution/delivery.ts"
import { ExecutionId } from "../execution/id.ts"
import { NoticeKind } from "../execution/notice.ts"
import { TargetName } from "../execution/notify-target.ts"
import { executionId } from "./execution-reference.ts"

const time = z.iso.datetime()

export const DeliveryView = z.object({
  delivery_id: z.string().describe("by which a receiver knows a message that comes again"),
  target: z.string(),
  event: NoticeKind,
  about: z.string().nullable().describe("the execution or trial; null for a test"),
  principal: z.string().describe("whose that is"),
  state: z.enum(["pending", ...DeliveryOutcome.options]),
  created_at: time,
  settled_at: time.nullable(),
  next_attempt_at: time.nullable().describe("not before then, while it is pending"),
  attempt_count: z.int(),
  attempts: z
    .array(
      z.object({
        number: z.int(),
        at: time,
        took_ms: z.int(),
        result: AttemptResult,
        status: z.int().nullable().describe("of HTTP, or the exit code of a command"),
        why: z.string().nullable().describe("what went wrong"),
      }),
    )
    .describe("the latest 20, oldest first"),
})
export type DeliveryView = z.infer<typeof DeliveryView>

export const TargetView = z.object({
  name: z.string(),
  kind: z.enum(["webhook", "ntfy", "slack", "command"]),
  pending: z.int().describe("messages of yours that wait for it"),
  failing_since: time.nullable().describe("null while it takes what it is sent"),
})
export type TargetView = z.infer<typeof TargetView>

export const notifyMethods = {
  "notify.list": {
    params: z
      .object({
        target: TargetName.optional(),
        state: DeliveryView.shape.state.optional(),
        execution_id: executionId.optional(),
        delivery_id: ExecutionId.optional(),
        limit: z.int().min(1).max(1000).default(100),
        cursor: z.string().max(64).optional(),
      })
      .prefault({}),
    result: z.object({
      targets: z.array(TargetView).describe("those that you may name"),
      deliveries: z.array(DeliveryView).describe("newest first"),
      cursor: z.string().optional(),
    }),
  },
  "notify.test": {
    params: z.object({ target: TargetName }),
    result: DeliveryView.describe("after its one attempt"),
  },
} as const
