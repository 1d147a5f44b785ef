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
