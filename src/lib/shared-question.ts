/**
 * A question that many ask at once is put once, and who asks again meanwhile waits for the same
 * answer: however many there are, one is under way. Nobody waits longer than the patience; then the
 * answer is null.
 */
export function sharedQuestion<Answer>(
  put: () => Promise<Answer>,
  patienceMs: number,
  after: (delayMs: number, run: () => void) => Disposable,
): () => Promise<Answer | null> {
  let underWay: Promise<Answer> | null = null
  return async () => {
    underWay ??= put().finally(() => {
      underWay = null
    })
    const { promise: late, resolve } = Promise.withResolvers<null>()
    using _patience = after(patienceMs, () => resolve(null))
    return await Promise.race([underWay, late])
  }
}
