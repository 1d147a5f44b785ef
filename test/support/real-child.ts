import { executionMarker } from "../../src/execution/id.ts"
import type { ProcessIdentity } from "../../src/execution/record.ts"
import { reap } from "../../src/service/os/libc.ts"
import { allPids, readEnvironment, readStat } from "../../src/service/os/proc.ts"
import { signalProcess } from "../../src/service/os/signals.ts"
import { descendantsOf, identify, isStillThere } from "./real-processes.ts"
import { until } from "./until.ts"

type Options = { executionId?: string; env?: Record<string, string> }

/** A shell in a session of its own, as an execution's leader is; gone with all it has started. */
export class RealChild implements AsyncDisposable {
  readonly pid: number
  readonly #mark = crypto.randomUUID()
  readonly #process: Bun.Subprocess<"ignore", "pipe", "ignore">
  readonly #told: ProcessIdentity[] = []
  #text = ""

  constructor(script: string, options: Options = {}) {
    const { executionId, env } = options
    const marker = executionId === undefined ? {} : { [executionMarker]: executionId }
    this.#process = Bun.spawn(["sh", "-c", script], {
      detached: true,
      env: { ...process.env, ...env, ...marker, TEST_CHILD: this.#mark },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
    })
    this.pid = this.#process.pid
    void this.#listen()
  }

  get exited(): Promise<number> {
    return this.#process.exited
  }

  get identity(): ProcessIdentity {
    return identify(this.pid)
  }

  /** The process whose pid it prints after a word. */
  async told(word: string): Promise<ProcessIdentity> {
    const pattern = new RegExp(`^${word} (\\d+)$`, "m")
    const pid = await until(`${word} in ${this.#text}`, () => pattern.exec(this.#text)?.[1])
    const identity = identify(Number(pid))
    this.#told.push(identity)
    return identity
  }

  /** The same for one that has been forked twice, once it is a child of this process. */
  async toldOrphan(word: string): Promise<ProcessIdentity> {
    const identity = await this.told(word)
    await until("it is adopted", () => readStat(identity.pid)?.parent === process.pid)
    return identity
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const adopted = [...this.#told]
    await until("all are gone", () => {
      // One that forks in the moment before it is killed has left another one.
      const left = this.#left()
      for (const one of left) signalProcess(one, 9)
      // Those that this process has adopted are its own to take away.
      adopted.push(...left)
      for (const { pid } of adopted) if (pid !== this.pid) reap(pid)
      return left.length === 0
    })
    this.#process.kill("SIGKILL")
    await this.#process.exited
  }

  #left(): ProcessIdentity[] {
    const known = [...this.#told.filter(isStillThere), ...markedBy(this.#mark)]
    return [...known, ...known.flatMap(({ pid }) => descendantsOf(pid))]
  }

  async #listen(): Promise<void> {
    const decoder = new TextDecoder()
    for await (const piece of this.#process.stdout) this.#text += decoder.decode(piece)
  }
}

function markedBy(mark: string): ProcessIdentity[] {
  return allPids().flatMap((pid) => {
    const stat = readStat(pid)
    const isMarked = readEnvironment(pid).split("\0").includes(`TEST_CHILD=${mark}`)
    return stat === null || !isMarked ? [] : [{ pid, startTicks: stat.startTicks }]
  })
}
