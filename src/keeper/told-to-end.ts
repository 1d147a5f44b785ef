export type EndReason = {
  reason: string
  /** Calls back when somebody insists. */
  onSecondSignal(hurry: () => void): void
}

/** Ctrl-C under npm arrives twice, once from the terminal and once passed on: that is one wish. */
const sameWishMs = 500

/** Waits for a signal, or for idleness where the configuration says that it ends the service. */
export function untilToldToEnd(options: {
  isIdle: () => boolean
  exitWhenIdleMs: number | null
  checkMs: number
}): Promise<EndReason> {
  const { exitWhenIdleMs } = options
  return new Promise((resolve) => {
    let firstSignalMs: number | null = null
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
    const signalled = (signal: string) => {
      const nowMs = performance.now()
      if (firstSignalMs === null) {
        firstSignalMs = nowMs
        end(signal)
      } else if (nowMs - firstSignalMs > sameWishMs) hurry?.()
    }
    const check = (limitMs: number) => {
      if (!options.isIdle()) idleSinceMs = null
      else idleSinceMs ??= performance.now()
      if (idleSinceMs !== null && performance.now() - idleSinceMs >= limitMs) end("idle")
    }
    const idleCheck =
      exitWhenIdleMs === null ? null : setInterval(check, options.checkMs, exitWhenIdleMs)
    process.on("SIGTERM", signalled)
    process.on("SIGINT", signalled)
    // A terminal that closes is no reason to end what may run for hours.
    process.on("SIGHUP", () => undefined)
  })
}
