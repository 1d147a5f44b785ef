import type { AttemptResult } from "../../../execution/delivery.ts"

/** What came of one attempt to tell a target something. */
export type Attempted = {
  result: AttemptResult
  /** Of HTTP, or the exit code of a command; null where there was no answer. */
  status: number | null
  why: string | null
  /** Nobody answers at its address: no message would arrive. */
  isUnreachable?: boolean
  /** How long the target asks to be left alone. */
  retryAfterMs?: number
}

export const delivered = (status: number): Attempted => ({ result: "delivered", status, why: null })

/** It may work the next time. */
export const failed = (why: string, status: number | null = null): Attempted => ({
  result: "failed",
  status,
  why: why.slice(0, longestWhy),
})

/** It will never work: the target has said so. */
export const refused = (why: string, status: number | null = null): Attempted => ({
  ...failed(why, status),
  result: "refused",
})

const longestWhy = 300
