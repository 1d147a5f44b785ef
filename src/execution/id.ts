import { z } from "zod"

/** 128 random bits in lower-case base32: unguessable, and any prefix is as good as another. */
export const ExecutionId = z
  .string()
  .regex(/^[a-z2-7]{26}$/, "an execution id is 26 characters of a-z and 2-7")
export type ExecutionId = z.infer<typeof ExecutionId>

/** What a person types: a whole id or the beginning of one. */
export const ExecutionIdPrefix = z
  .string()
  .regex(/^[a-z2-7]{1,26}$/, "an execution id, or the beginning of one, has only a-z and 2-7")

const alphabet = "abcdefghijklmnopqrstuvwxyz234567"
const shortLength = 8

export function executionIdFrom(random: Uint8Array): ExecutionId {
  let bits = 0
  let value = 0
  let text = ""
  for (const byte of random.subarray(0, 16)) {
    value = (value << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += alphabet.charAt((value >>> bits) & 31)
    }
    value &= (1 << bits) - 1
  }
  return text + alphabet.charAt((value << (5 - bits)) & 31)
}

export function shortId(id: ExecutionId): string {
  return id.slice(0, shortLength)
}
