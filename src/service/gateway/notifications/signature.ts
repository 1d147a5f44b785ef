import { createHmac } from "node:crypto"

/** By these a receiver knows what it got. They never change. */
export const headerNames = {
  delivery: "X-CC-Executor-Delivery",
  event: "X-CC-Executor-Event",
  attempt: "X-CC-Executor-Attempt",
  timestamp: "X-CC-Executor-Timestamp",
  signature: "X-CC-Executor-Signature",
} as const

/** Over the time and the body, so that neither can be changed, or sent again much later. */
export function signatureOf(secret: string, timestamp: string, body: string): string {
  const hmac = createHmac("sha256", secret).update(`${timestamp}.${body}`)
  return `sha256=${hmac.digest("hex")}`
}
