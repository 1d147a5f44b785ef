import type { ProcessIdentity, Survivor } from "../../src/execution/record.ts"
import type { Clock, ProcessTree } from "../../src/service/keeper/ports.ts"

const names: Record<number, string> = { 9: "SIGKILL", 15: "SIGTERM", 18: "SIGCONT" }

export type ScriptedProcess = {
  pid: number
  /** Milliseconds from a signal to its end; a signal that is not here is ignored. */
  endsAfter?: Partial<Record<"SIGTERM" | "SIGKILL", number>>
  /** It is not there before. */
  bornAtMs?: number
}

/** A tree whose processes do what a test has written down for them. */
export class ScriptedTree implements ProcessTree {
  readonly done: string[] = []
  readonly #clock: Clock
  readonly #processes: ScriptedProcess[]
  readonly #endsAtMs = new Map<number, number>()

  constructor(clock: Clock, processes: ScriptedProcess[]) {
    this.#clock = clock
    this.#processes = processes
  }

  members(): ProcessIdentity[] {
    const nowMs = this.#clock.monotonicMs()
    return this.#processes
      .filter(({ pid, bornAtMs = 0 }) => {
        return bornAtMs <= nowMs && nowMs < (this.#endsAtMs.get(pid) ?? Infinity)
      })
      .map(({ pid }) => ({ pid, startTicks: pid * 10 }))
  }

  signal(number: number): number {
    const name = names[number] ?? String(number)
    this.done.push(name)
    const reached = this.members()
    for (const { pid } of reached) this.#signalOne(pid, name)
    return reached.length
  }

  async freeze(): Promise<void> {
    this.done.push("freeze")
  }

  thaw(): void {
    this.done.push("thaw")
  }

  frozen(): ProcessIdentity[] {
    return []
  }

  describe({ pid }: ProcessIdentity): Survivor {
    return { pid, command: `process ${pid}` }
  }

  #signalOne(pid: number, name: string): void {
    if (name !== "SIGTERM" && name !== "SIGKILL") return
    const delayMs = this.#processes.find((one) => one.pid === pid)?.endsAfter?.[name]
    if (delayMs === undefined) return
    const atMs = this.#clock.monotonicMs() + delayMs
    this.#endsAtMs.set(pid, Math.min(atMs, this.#endsAtMs.get(pid) ?? Infinity))
  }
}
