import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { firstMatch } from "./first-match.ts"
import { cpuSecondsOf, type Memory, memoryOf, peakRssMbOf } from "./process-cost.ts"

/** The built executable, serving from an empty state directory. */
export class MeasuredService implements AsyncDisposable {
  readonly url: string
  readonly keeperPid: number
  readonly #executable: string
  readonly #stateDir: string
  readonly #process: Bun.Subprocess

  private constructor(executable: string, url: string, stateDir: string, process: Bun.Subprocess) {
    this.url = url
    this.#executable = executable
    this.#stateDir = stateDir
    this.#process = process
    this.keeperPid = process.pid
  }

  static async start(
    executable: string,
    flags: string[] = [],
    env: Record<string, string> = {},
  ): Promise<MeasuredService> {
    const stateDir = mkdtempSync(join(tmpdir(), "cc-executor-bench-"))
    const child = Bun.spawn(
      [executable, "serve", "--port", "0", "--state-dir", stateDir, ...flags],
      { env: { ...process.env, ...env }, stdin: "ignore", stdout: "ignore", stderr: "pipe" },
    )
    const url = await firstMatch(child.stderr, /listening on (ws:\S+)/)
    return new MeasuredService(executable, url, stateDir, child)
  }

  /** A new client's. */
  async token(name: string): Promise<string> {
    const args = ["token", "create", "--name", name, "--state-dir", this.#stateDir]
    const made = Bun.spawn([this.#executable, ...args], { stdout: "pipe", stderr: "ignore" })
    return (await made.stdout.text()).trim()
  }

  get gatewayPid(): number {
    const text = readFileSync(join(this.#stateDir, "trees.json"), "utf8")
    return Number(/"gateway":\{"pid":(\d+)/.exec(text)?.[1])
  }

  memory(): { keeper: Memory; gateway: Memory } {
    return { keeper: memoryOf(this.keeperPid), gateway: memoryOf(this.gatewayPid) }
  }

  peakRssMb(): { keeper: number; gateway: number } {
    return { keeper: peakRssMbOf(this.keeperPid), gateway: peakRssMbOf(this.gatewayPid) }
  }

  /** Of both processes, without the executions' own. */
  cpuSeconds(): number {
    return cpuSecondsOf(this.keeperPid) + cpuSecondsOf(this.gatewayPid)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGTERM")
    await this.#process.exited
    rmSync(this.#stateDir, { recursive: true, force: true })
  }
}
