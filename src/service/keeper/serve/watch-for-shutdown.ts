export type ShutdownReason = {
  reason: string
  /** Calls back when somebody insists. */
  onSecondSignal(hurry: () => void): void
}

/** Ctrl-C under npm arrives twice, from the terminal and passed on by npm: that is one request. */
const sameRequestMs = 500

export type ShutdownWatch = {
  end: Promise<ShutdownReason>
  /** The first signal that asked for it. */
  signal: () => "SIGTERM" | "SIGINT" | null
}

/** Waits for a signal, or for idleness where the configuration says that it ends the service. */
export function watchForShutdown(options: {
  isIdle: () => boolean
  exitWhenIdleMs: number | null
  checkMs: number
}): ShutdownWatch {
  const { exitWhenIdleMs } = options
  const { promise, resolve } = Promise.withResolvers<ShutdownReason>()
  let first: { signal: "SIGTERM" | "SIGINT"; atMs: number } | null = null
  let hurry: (() => void) | null = null
  let idleSinceMs: number | null = null
  const end = (reason: string) => {
    if (idleCheck !== null) clearInterval(idleCheck)
    resolve({
      reason,
      onSecondSignal(run) {
        hurry = run
      },
    })
  }
  const signalled = (signal: "SIGTERM" | "SIGINT") => {
    const nowMs = performance.now()
    if (first === null) {
      first = { signal, atMs: nowMs }
      end(signal)
    } else if (nowMs - first.atMs > sameRequestMs) hurry?.()
  }
  const check = (limitMs: number) => {
    if (!options.isIdle()) idleSinceMs = null
    else idleSinceMs ??= performance.now()
    if (idleSinceMs !== null && performance.now() - idleSinceMs >= limitMs) end("idle")
  }
  const idleCheck =
    exitWhenIdleMs === null ? null : setInterval(check, options.checkMs, exitWhenIdleMs)
  process.on("SIGTERM", () => signalled("SIGTERM"))
  process.on("SIGINT", () => signalled("SIGINT"))
  // A terminal that closes is no reason to end what may run for hours.
  process.on("SIGHUP", () => undefined)
  return { end: promise, signal: () => first?.signal ?? null }
}
