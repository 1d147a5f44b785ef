/** Where lines go. Neither throws nor waits, whatever becomes of them; disposing flushes first. */
export interface LogDestination extends AsyncDisposable {
  readonly isTerminal: boolean
  /** `worth` is how many lines are lost with this one. */
  write(line: string, worth: number): void
  countLoss(loss: Loss): void
  /** What was lost since it was last asked for. */
  takeLoss(): Loss | null
  flush(): Promise<void>
}

export type Loss = { lostLines: number; reason: string }

export function lossCounter(): Pick<LogDestination, "countLoss" | "takeLoss"> {
  let lost: Loss | null = null
  return {
    countLoss({ lostLines, reason }) {
      lost = { lostLines: (lost?.lostLines ?? 0) + lostLines, reason }
    },
    takeLoss() {
      const taken = lost
      lost = null
      return taken
    },
  }
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return "code" in error && typeof error.code === "string" ? error.code : error.message
}
