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
    const known = [...this.#told.filter(isStillThere), ...markedBy(this.#mark)]
    const all = [...known, ...known.flatMap(({ pid }) => descendantsOf(pid))]
    for (const one of all) signalProcess(one, 9)
    this.#process.kill("SIGKILL")
    await this.#process.exited
    // Those that this process has adopted are its own to take away.
    const adopted = [...this.#told, ...all].filter(({ pid }) => pid !== this.pid)
    await until("all are gone", () => {
      for (const { pid } of adopted) reap(pid)
      return !adopted.some(isStillThere)
    })
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
