import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export type Memory = { rssMb: number; pssMb: number }

const ticksPerSecond = 100

/** The built executable, serving from an empty state directory. */
export class MeasuredService implements AsyncDisposable {
  readonly url: string
  readonly keeperPid: number
  readonly #stateDir: string
  readonly #process: Bun.Subprocess

  private constructor(url: string, stateDir: string, process: Bun.Subprocess) {
    this.url = url
    this.#stateDir = stateDir
    this.#process = process
    this.keeperPid = process.pid
  }

  static async start(executable: string, ...flags: string[]): Promise<MeasuredService> {
    const stateDir = mkdtempSync(join(tmpdir(), "cc-executor-bench-"))
    const child = Bun.spawn(
      [executable, "serve", "--port", "0", "--state-dir", stateDir, ...flags],
      { stdin: "ignore", stdout: "ignore", stderr: "pipe" },
    )
    const url = await firstMatch(child.stderr, /listening on (ws:\S+)/)
    return new MeasuredService(url, stateDir, child)
  }

  get gatewayPid(): number {
    const text = readFileSync(join(this.#stateDir, "trees.json"), "utf8")
    return Number(/"gateway":\{"pid":(\d+)/.exec(text)?.[1])
  }

  memory(): { keeper: Memory; gateway: Memory } {
    return { keeper: memoryOf(this.keeperPid), gateway: memoryOf(this.gatewayPid) }
  }

  cpuSeconds(): { keeper: number; gateway: number } {
    return { keeper: cpuSecondsOf(this.keeperPid), gateway: cpuSecondsOf(this.gatewayPid) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGTERM")
    await this.#process.exited
    rmSync(this.#stateDir, { recursive: true, force: true })
  }
}

export async function firstMatch(
  output: ReadableStream<Uint8Array>,
  pattern: RegExp,
): Promise<string> {
  const reader = output.getReader()
  let text = ""
  while (true) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`it ended before it said ${pattern}: ${text}`)
    text += new TextDecoder().decode(value)
    const found = pattern.exec(text)?.[1]
    if (found === undefined) continue
    reader.releaseLock()
    return found
  }
}

export function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "latin1")
  const mb = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1]) / 1024
  return { rssMb: mb("Rss"), pssMb: mb("Pss") }
}
