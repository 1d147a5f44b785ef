export type ReconnectPolicy = {
  firstDelayMs: number
  maxDelayMs: number
  /** Time without a connection after which the client closes for good; null is never. */
  giveUpAfterMs: number | null
}

export const defaultReconnectPolicy: ReconnectPolicy = {
  firstDelayMs: 50,
  maxDelayMs: 2_000,
  giveUpAfterMs: null,
}

/**
 * Doubles with each attempt (the first is 1). `random` in [0, 1) spreads the upper half of the
 * delay, so that the clients of a restarted server do not all come back in the same millisecond.
 */
export function reconnectDelayMs(
  attempt: number,
  policy: Pick<ReconnectPolicy, "firstDelayMs" | "maxDelayMs">,
  random: number,
): number {
  const fullMs = Math.min(policy.maxDelayMs, policy.firstDelayMs * 2 ** (attempt - 1))
  return fullMs * (0.5 + random / 2)
}
