import { join } from "node:path"
import { firstMatch } from "./first-match.ts"
import { cpuSecondsOf, type Memory, memoryOf } from "./process-cost.ts"

/** floor-server.ts in a process of its own. */
export class Floor implements AsyncDisposable {
  readonly #process: Bun.Subprocess
  readonly #port: string

  private constructor(process: Bun.Subprocess, port: string) {
    this.#process = process
    this.#port = port
  }

  static async start(): Promise<Floor> {
    const server = Bun.spawn([process.execPath, join(import.meta.dir, "floor-server.ts")], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    })
    return new Floor(server, await firstMatch(server.stdout, /^(\d+)\n/))
  }

  /** Whoever connects gets the output of this command. */
  url(encoding: string, command = "true"): string {
    return `ws://127.0.0.1:${this.#port}/?${new URLSearchParams({ command, encoding }).toString()}`
  }

  cpuSeconds(): number {
    return cpuSecondsOf(this.#process.pid)
  }

  memory(): Memory {
    return memoryOf(this.#process.pid)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill()
    await this.#process.exited
  }
}
