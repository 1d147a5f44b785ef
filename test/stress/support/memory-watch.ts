import { readFileSync } from "node:fs"
import { isErrno } from "../../../src/lib/errno.ts"
import { memoryOf } from "../../support/memory-of.ts"
import type { Service } from "../../support/service.ts"
import type { MemorySample, ProcessMemory } from "./scenario.ts"

const intervalMs = 250

/** Samples the memory of a service's two processes, whichever processes they are by then. */
export class MemoryWatch implements Disposable {
  readonly samples: MemorySample[]
  readonly #service: Service
  readonly #nowMs: () => number
  readonly #timer: NodeJS.Timeout

  constructor(service: Service, samples: MemorySample[], nowMs: () => number) {
    this.samples = samples
    this.#service = service
    this.#nowMs = nowMs
    this.#timer = setInterval(() => this.#sample(), intervalMs)
    this.#sample()
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#sample()
  }

  #sample(): void {
    const keeper = readMemory(() => this.#service.pid)
    const gateway = readMemory(() => this.#service.gatewayPid)
    this.samples.push({ atMs: this.#nowMs(), keeper, gateway })
  }
}

/** Null when there is no such process at the moment: it may be on its way back. */
function readMemory(pidOf: () => number): ProcessMemory | null {
  try {
    const pid = pidOf()
    const { nowMb: rssMb, peakMb } = memoryOf(pid)
    const pssMb = proportionalMb(pid)
    return Number.isNaN(rssMb + peakMb + pssMb) ? null : { rssMb, peakMb, pssMb }
  } catch (error) {
    // trees.json is not there, or being written, or names no gateway; or the process is gone.
    if (error instanceof SyntaxError || isErrno(error, "ENOENT", "ESRCH")) return null
    if (error instanceof Error && error.message === "there is no gateway at the moment") return null
    throw error
  }
}

function proportionalMb(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "latin1")
  return Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1]) / 1024
}
