/**
 * Runs a call once for all who ask while it is in flight: they share its answer. Nobody waits
 * longer than the timeout; then the answer is null.
 */
export function singleFlight<Answer>(
  run: () => Promise<Answer>,
  timeoutMs: number,
  after: (delayMs: number, run: () => void) => Disposable,
): () => Promise<Answer | null> {
  let inFlight: Promise<Answer> | null = null
  return async () => {
    inFlight ??= run().finally(() => {
      inFlight = null
    })
    const { promise: late, resolve } = Promise.withResolvers<null>()
    using _timeout = after(timeoutMs, () => resolve(null))
    return await Promise.race([inFlight, late])
  }
}
