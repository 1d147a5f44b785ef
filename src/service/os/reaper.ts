import { readFileSync } from "node:fs"
import { isErrno } from "../../lib/errno.ts"
import { isShortage } from "../../lib/exhaustion.ts"
import { becomeSubreaper, reap, type Waited } from "./libc.ts"
import { allPids, readStat } from "./proc.ts"

const hintDelayMs = 20
const safetyNetMs = 2000

/**
 * Takes away the zombies of orphans that this process was given, as PID 1 or as subreaper. Bun's
 * own children are left to Bun: a stolen wait makes it lose their exit code.
 */
export class Reaper implements Disposable {
  readonly #own = new Set<number>()
  /** Children that are not Bun's, and whose end somebody waits for. */
  readonly #awaited = new Map<number, (how: Waited) => void>()
  readonly #safetyNet: Timer
  readonly #hint = () => {
    this.#lookAfterAdopted()
    this.#soon()
  }
  #pending: Timer | null = null
  #isWaiting: boolean

  /** `when told`: until `begin`, nobody is waited for, and so every end stays to be learnt. */
  constructor(begins: "at once" | "when told" = "at once") {
    this.#isWaiting = begins === "at once"
    becomeSubreaper()
    // Comes late and merged, so it only hints that it is time to look.
    process.on("SIGCHLD", this.#hint)
    this.#safetyNet = setInterval(() => this.#look(), safetyNetMs)
  }

  begin(): void {
    this.#isWaiting = true
    this.#soon()
  }

  /** Must be called in the turn of the event loop in which the child was spawned. */
  isMine(pid: number, exited: Promise<unknown>): void {
    this.#own.add(pid)
    const gone = () => this.#own.delete(pid)
    exited.then(gone, gone)
  }

  /** Resolves with the end of a child that an earlier program of this process has started. */
  adopt(pid: number): Promise<Waited> {
    this.#own.add(pid)
    const { promise, resolve } = Promise.withResolvers<Waited>()
    this.#awaited.set(pid, resolve)
    this.#soon()
    return promise
  }

  readonly isOwnChild = (pid: number): boolean => this.#own.has(pid)

  reapOrphans(): void {
    if (!this.#isWaiting) return
    this.#lookAfterAdopted()
    for (const pid of childPids()) if (!this.#own.has(pid)) reap(pid)
  }

  /** Zombies can wait: what could not be looked at now is looked at by the safety net. */
  #look(): void {
    try {
      this.reapOrphans()
    } catch (error) {
      if (!isShortage(error)) throw error
    }
  }

  #lookAfterAdopted(): void {
    if (!this.#isWaiting) return
    for (const [pid, tell] of this.#awaited) {
      const how = reap(pid)
      if (how === null) continue
      this.#awaited.delete(pid)
      this.#own.delete(pid)
      tell(how)
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#safetyNet)
    if (this.#pending !== null) clearTimeout(this.#pending)
    process.off("SIGCHLD", this.#hint)
  }

  #soon(): void {
    this.#pending ??= setTimeout(() => {
      this.#pending = null
      this.#look()
    }, hintDelayMs)
  }
}

function childPids(): number[] {
  try {
    const text = readFileSync(`/proc/self/task/${process.pid}/children`, "latin1")
    return text.split(" ").filter(Boolean).map(Number)
  } catch (error) {
    // Kernels without CONFIG_PROC_CHILDREN do not have the list.
    if (!isErrno(error, "ENOENT")) throw error
    return allPids().filter((pid) => readStat(pid)?.parent === process.pid)
  }
}
