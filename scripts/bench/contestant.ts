import { join } from "node:path"
import { type CountedRequest, type CountedRun, countedRun } from "./counted-run.ts"
import { firstMatch } from "./first-match.ts"

export type CostedRun = CountedRun & { cpuSeconds: number }

/** `seq 1 N` through one server, to counting-client.ts, as often as it is asked. */
export class Contestant implements AsyncDisposable {
  readonly request: CountedRequest
  readonly #cpuSeconds: () => number
  readonly #client: Bun.Subprocess<"pipe", "pipe", "inherit">

  constructor(server: { cpuSeconds: () => number }, request: CountedRequest) {
    this.request = request
    this.#cpuSeconds = () => server.cpuSeconds()
    const program = join(import.meta.dir, "counting-client.ts")
    this.#client = Bun.spawn([process.execPath, program, JSON.stringify(request)], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    })
  }

  async run(): Promise<CostedRun> {
    const cpuBefore = this.#cpuSeconds()
    await this.#client.stdin.write("run\n")
    await this.#client.stdin.flush()
    const run = countedRun(await firstMatch(this.#client.stdout, /^(\{.*\})\n/))
    return { ...run, cpuSeconds: this.#cpuSeconds() - cpuBefore }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.kill()
    await this.#client.exited
  }
}
