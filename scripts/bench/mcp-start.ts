import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isThere } from "../../src/cli/connect/local-listener.ts"
import { statePathsIn } from "../../src/service/storage/state-paths.ts"
import { type Measured, timesFloor } from "./figure.ts"
import { median } from "./statistics.ts"

const rounds = 15
const pollMs = 1
const about = `From the start of \`cc-executor mcp\` to its first answer, to \`initialize\`. With
  a service that runs, the floor is \`cc-executor version\`; without one, twice that and the time
  the service takes to be ready by itself, all in the same rounds.`

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "bench", version: "1.0.0" },
  },
}

export async function measureMcpStart(executable: string): Promise<Measured> {
  const version: number[] = []
  const service: number[] = []
  const warm: number[] = []
  const cold: number[] = []
  for (let round = 0; round < rounds; round++) {
    version.push(await versionMs(executable))
    using running = new StateDirectory()
    const child = Bun.spawn(
      [executable, "serve", "--port=none", "--preload-mcp", ...running.flags],
      quiet,
    )
    service.push(await readyMs(running))
    warm.push(await firstAnswerMs(executable, running))
    child.kill("SIGTERM")
    await child.exited
    using empty = new StateDirectory()
    cold.push(await firstAnswerMs(executable, empty))
    await Bun.spawn([executable, "stop", ...empty.flags], quiet).exited
  }
  const start = 2 * median(version) + median(service)
  const what = "first answer of `mcp`"
  const unit = "ms"
  return {
    about,
    figures: [
      { what: `${what}, service running`, value: median(warm), unit, floor: median(version) },
      {
        what: `${what}, none running`,
        value: median(cold),
        unit,
        floor: start,
        aim: timesFloor("at most", 1),
      },
    ],
    plots: [],
  }
}

const quiet = { stdin: "ignore", stdout: "ignore", stderr: "ignore" } as const

class StateDirectory implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), "cc-executor-bench-"))

  get flags(): string[] {
    return ["--state-dir", this.path]
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

async function versionMs(executable: string): Promise<number> {
  const startedMs = performance.now()
  await Bun.spawn([executable, "version"], quiet).exited
  return performance.now() - startedMs
}

async function readyMs({ path }: StateDirectory): Promise<number> {
  const startedMs = performance.now()
  while (!(await isThere(statePathsIn(path)))) await Bun.sleep(pollMs)
  return performance.now() - startedMs
}

async function firstAnswerMs(executable: string, { flags }: StateDirectory): Promise<number> {
  const startedMs = performance.now()
  const child = Bun.spawn([executable, "mcp", ...flags], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  })
  await child.stdin.write(`${JSON.stringify(initialize)}\n`)
  await child.stdin.flush()
  await child.stdout.getReader().read()
  const ms = performance.now() - startedMs
  await child.stdin.end()
  await child.exited
  return ms
}
