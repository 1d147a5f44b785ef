import { z } from "zod"
import { base32 } from "../lib/base32.ts"

/** 128 random bits in lower-case base32: unguessable, and any prefix is as good as another. */
export const ExecutionId = z
  .string()
  .regex(/^[a-z2-7]{26}$/, "an execution id is 26 characters of a-z and 2-7")
export type ExecutionId = z.infer<typeof ExecutionId>

/** What a person types: a whole id or the beginning of one. */
export const ExecutionIdPrefix = z
  .string()
  .regex(/^[a-z2-7]{1,26}$/, "an execution id, or its prefix, has only a-z and 2-7")

const shortLength = 8

export function executionIdFrom(random: Uint8Array): ExecutionId {
  return base32(random.subarray(0, 16))
}

export function shortId(id: ExecutionId): string {
  return id.slice(0, shortLength)
}

/** In the environment of every process of an execution: its id. */
export const executionMarker = "CC_EXECUTOR_EXECUTION_ID"
