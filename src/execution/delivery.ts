import { z } from "zod"
import type { ExecutionId } from "./id.ts"
import type { Notice } from "./notice.ts"
import type { TargetName } from "./notify-target.ts"

/** A notice on its way to one target, and what has become of it. */

/** A notice that one target is to be told; by its id, a target knows one that comes again. */
export type NewDelivery = { id: ExecutionId; target: TargetName; notice: Notice }

/** How it came to its end. */
export const DeliveryOutcome = z.enum([
  "delivered",
  "refused", // by the target, for good
  "expired", // older than the bound on its age
  "exhausted", // tried as often as may be
  "displaced", // too many waited for this target
])
export type DeliveryOutcome = z.infer<typeof DeliveryOutcome>

export const AttemptResult = z.enum(["delivered", "failed", "refused"])
export type AttemptResult = z.infer<typeof AttemptResult>

export const DeliveryAttempt = z.object({
  at: z.iso.datetime(),
  took_ms: z.int(),
  result: AttemptResult,
  status: z.int().nullable().describe("of HTTP, or the exit code of a command"),
  why: z.string().nullable().describe("what went wrong"),
})
export type DeliveryAttempt = z.infer<typeof DeliveryAttempt>

/** After an attempt: when the next one is due, or how it ended. */
export const AfterAttempt = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("again"), at: z.iso.datetime() }),
  z.object({ kind: z.literal("settled"), outcome: DeliveryOutcome }),
])
export type AfterAttempt = z.infer<typeof AfterAttempt>

export type AttemptReport = {
  delivery: ExecutionId
  target: TargetName
  attempt: DeliveryAttempt
  then: AfterAttempt
}

/** Attempts on record for one delivery; older ones are only counted. */
export const attemptsKept = 20
