import type { WayLimits } from "./ports.ts"

const mebibyte = 1024 * 1024

export const standardMessageBytes = 16 * mebibyte

/** Bounds that follow from the largest message that may pass. */
export function wayLimits(messageBytes: number): WayLimits {
  return {
    messageBytes,
    requests: 1_000,
    waitingMessages: 1_000,
    waitingBytes: 2 * messageBytes,
    unreadBytes: 2 * messageBytes,
  }
}
