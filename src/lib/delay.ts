/** Waits, or comes back early when a signal is aborted: the caller looks at what is true then. */
export function delay(delayMs: number, ...signals: AbortSignal[]): Promise<void> {
  if (signals.some((signal) => signal.aborted)) return Promise.resolve()
  const { promise, resolve } = Promise.withResolvers<void>()
  const done = () => {
    clearTimeout(timer)
    for (const signal of signals) signal.removeEventListener("abort", done)
    resolve()
  }
  const timer = setTimeout(done, delayMs)
  for (const signal of signals) signal.addEventListener("abort", done)
  return promise
}

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  const { promise, resolve } = Promise.withResolvers<void>()
  signal.addEventListener("abort", () => resolve(), { once: true })
  return promise
}

/** What a promise gives, or null as soon as a signal is aborted. */
export async function orAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
): Promise<Value | null> {
  if (signal.aborted) return null
  const { promise: abort, resolve } = Promise.withResolvers<null>()
  const stop = () => resolve(null)
  signal.addEventListener("abort", stop)
  try {
    const value = await Promise.race([promise, abort])
    return signal.aborted ? null : value
  } finally {
    signal.removeEventListener("abort", stop)
  }
}
