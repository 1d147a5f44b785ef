import type { ExecutionId } from "../../../execution/id.ts"
import type { ProcessIdentity, Survivor } from "../../../execution/record.ts"
import type { ProcessTree } from "../../keeper/ports.ts"
import { type ProcessStat, survivorOf } from "../proc.ts"
import { SIGCONT, SIGKILL, SIGSTOP, signalProcess } from "../signals.ts"
import type { Forest } from "./forest.ts"

const freezeLimitMs = 5000

/** A tree followed by what /proc tells, for machines that give us no cgroup. */
export class BestEffortTree implements ProcessTree {
  readonly #id: ExecutionId
  readonly #forest: Forest
  readonly #frozen = new Map<number, ProcessIdentity>()

  constructor(id: ExecutionId, forest: Forest, frozen: readonly ProcessIdentity[] = []) {
    this.#id = id
    this.#forest = forest
    for (const member of frozen) this.#frozen.set(member.pid, member)
  }

  members(): ProcessIdentity[] {
    const members = this.#forest.members(this.#id)
    // A fork may slip past one look: born after the list was read, its parent gone before its turn.
    return members.length > 0 ? members : this.#forest.membersNow(this.#id)
  }

  signal(signal: number): number {
    const members = this.#forest.members(this.#id)
    // What forks must not outrun its killer: first nobody moves, then everybody dies.
    if (signal === SIGKILL) for (const member of members) signalProcess(member, SIGSTOP)
    if (signal === SIGCONT && this.#frozen.size > 0) return this.#continueLater(members)
    return members.filter((member) => signalProcess(member, signal)).length
  }

  /** A member may fork between being seen and being stopped: look until nobody runs. */
  async freeze(): Promise<void> {
    const deadline = performance.now() + freezeLimitMs
    while (true) {
      const running = this.#forest.members(this.#id).filter((member) => !this.#standsStill(member))
      if (running.length === 0) return
      for (const member of running) {
        if (signalProcess(member, SIGSTOP)) this.#frozen.set(member.pid, member)
      }
      if (performance.now() > deadline) {
        this.thaw()
        throw new Error(`${running.length} processes did not stop within ${freezeLimitMs} ms`)
      }
      await Bun.sleep(1)
    }
  }

  /** Wakes only what freeze stopped: a job that its own shell had suspended stays so. */
  thaw(): void {
    for (const member of this.#frozen.values()) signalProcess(member, SIGCONT)
    this.#frozen.clear()
  }

  frozen(): ProcessIdentity[] {
    return [...this.#frozen.values()].map(({ pid, startTicks }) => ({ pid, startTicks }))
  }

  describe(process: ProcessIdentity): Survivor {
    return survivorOf(process)
  }

  #standsStill({ pid, startTicks, state }: ProcessStat): boolean {
    if (state === "T" || state === "t") return true
    // D: asleep in the kernel, perhaps until a child stopped between vfork and exec goes on; the
    // stop that it was sent meets it before any code of its own does. Z: see isAlive.
    const canTell = state !== "D" && state !== "Z"
    return !canTell && this.#frozen.get(pid)?.startTicks === startTicks
  }

  /** SIGCONT is what thaws: while frozen, it only says who is to be awake afterwards. */
  #continueLater(members: ProcessIdentity[]): number {
    for (const member of members) this.#frozen.set(member.pid, member)
    return members.length
  }
}
