/** Waits, or comes back early when the signal is aborted: the caller looks at what is true then. */
export function delay(delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  const { promise, resolve } = Promise.withResolvers<void>()
  const done = () => {
    clearTimeout(timer)
    signal.removeEventListener("abort", done)
    resolve()
  }
  const timer = setTimeout(done, delayMs)
  signal.addEventListener("abort", done)
  return promise
}

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  const { promise, resolve } = Promise.withResolvers<void>()
  signal.addEventListener("abort", () => resolve(), { once: true })
  return promise
}
