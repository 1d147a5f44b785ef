import { readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { ProcessIdentity, ResourceUse, Survivor } from "../../../execution/record.ts"
import { isErrno } from "../../../lib/errno.ts"
import { isShortage } from "../../../lib/exhaustion.ts"
import type { ProcessTree } from "../../keeper/ports.ts"
import { isAlive, readStat, survivorOf } from "../proc.ts"
import { SIGKILL, signalProcess } from "../signals.ts"

const freezeLimitMs = 5000
const removeRetryMs = 20
const mostRemoveTries = 50

/**
 * A tree that the kernel keeps for us: nothing leaves its cgroup by forking or by setsid. Root may
 * move itself out on purpose; the leader is a member wherever it went.
 */
export class CgroupTree implements ProcessTree {
  readonly #path: string
  #leader: ProcessIdentity | null = null

  constructor(path: string) {
    this.#path = path
  }

  ledBy(leader: ProcessIdentity): this {
    this.#leader = leader
    return this
  }

  members(): ProcessIdentity[] {
    const members = this.#isPopulated() ? membersBelow(this.#path) : []
    const leader = this.#leader
    if (leader === null || members.some(({ pid }) => pid === leader.pid)) return members
    const stat = readStat(leader.pid)
    return isAlive(stat) && stat.startTicks === leader.startTicks ? [leader, ...members] : members
  }

  signal(signal: number): number {
    // The kernel's own kill cannot be outrun by a fork, and it reaches the frozen.
    if (signal === SIGKILL) {
      const members = this.members()
      this.#write("cgroup.kill", "1")
      if (this.#leader !== null) signalProcess(this.#leader, SIGKILL)
      return members.length
    }
    return this.members().filter((member) => signalProcess(member, signal)).length
  }

  async freeze(): Promise<void> {
    this.#write("cgroup.freeze", "1")
    const deadline = performance.now() + freezeLimitMs
    while (!this.#events().includes("frozen 1") && this.#isPopulated()) {
      if (performance.now() > deadline) {
        this.thaw()
        throw new Error(`cgroup ${this.#path} did not freeze within ${freezeLimitMs} ms`)
      }
      await Bun.sleep(1)
    }
  }

  thaw(): void {
    this.#write("cgroup.freeze", "0")
  }

  frozen(): ProcessIdentity[] {
    return []
  }

  use(): ResourceUse {
    const cpu = readIfThere(join(this.#path, "cpu.stat")) ?? ""
    const peak = readIfThere(join(this.#path, "memory.peak"))
    return {
      cpuUserMs: microsecondsAsMs(cpu, "user_usec"),
      cpuSystemMs: microsecondsAsMs(cpu, "system_usec"),
      memoryPeakBytes: peak === null ? null : Number(peak),
    }
  }

  describe(process: ProcessIdentity): Survivor {
    return survivorOf(process)
  }

  /** Removes the cgroup and any its processes made below it. */
  remove(): void {
    removeSoon(this.#path, mostRemoveTries)
  }

  #isPopulated(): boolean {
    return this.#events().includes("populated 1")
  }

  #events(): string {
    return readIfThere(join(this.#path, "cgroup.events")) ?? ""
  }

  #write(file: string, value: string): void {
    try {
      writeFileSync(join(this.#path, file), value)
    } catch (error) {
      if (!isErrno(error, "ENOENT", "ENODEV")) throw error // removed: nothing left to act on
    }
  }
}

/** Ends every process below a cgroup at once, and answers whether it is empty now. */
export async function killCgroup(path: string, limitMs: number): Promise<boolean> {
  const tree = new CgroupTree(path)
  const deadline = performance.now() + limitMs
  while (tree.signal(SIGKILL) > 0) {
    if (performance.now() > deadline) return false
    await Bun.sleep(2)
  }
  tree.remove()
  return true
}

function membersBelow(path: string): ProcessIdentity[] {
  const members: ProcessIdentity[] = []
  for (const line of (readIfThere(join(path, "cgroup.procs")) ?? "").split("\n")) {
    if (line === "") continue
    const stat = readStat(Number(line))
    if (isAlive(stat)) members.push({ pid: stat.pid, startTicks: stat.startTicks })
  }
  for (const child of childCgroups(path)) members.push(...membersBelow(child))
  return members
}

/** Removes a cgroup and those below it; answers whether it is gone. */
export function removeEmptyCgroups(path: string): boolean {
  if (removeCgroup(path)) return true
  const children = childCgroups(path)
  for (const child of children) removeEmptyCgroups(child)
  return children.length > 0 && removeCgroup(path)
}

/** False when somebody is in it, or another cgroup. */
function removeCgroup(path: string): boolean {
  try {
    rmdirSync(path)
    return true
  } catch (error) {
    if (isErrno(error, "ENOENT")) return true
    if (isErrno(error, "EBUSY", "ENOTEMPTY")) return false
    throw error
  }
}

/** The kernel may still be taking the last process apart. A survivor's cgroup stays in the end. */
function removeSoon(path: string, triesLeft: number): void {
  if (isRemoved(path) || triesLeft === 0) return
  setTimeout(removeSoon, removeRetryMs, path, triesLeft - 1)
}

function isRemoved(path: string): boolean {
  try {
    return removeEmptyCgroups(path)
  } catch (error) {
    if (!isShortage(error)) throw error
    return false
  }
}

function childCgroups(path: string): string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map((entry) => join(path, entry.name))
  } catch (error) {
    if (isErrno(error, "ENOENT")) return []
    throw error
  }
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, "latin1")
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENODEV")) return null
    throw error
  }
}

function microsecondsAsMs(stat: string, name: string): number | null {
  const value = new RegExp(`^${name} (\\d+)$`, "m").exec(stat)?.[1]
  return value === undefined ? null : Number(value) / 1000
}
