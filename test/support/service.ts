import { mkdtempSync, readFileSync, rmdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { z } from "zod"
import type { ContainmentMode } from "../../src/execution/record.ts"
import { isErrno } from "../../src/lib/errno.ts"
import { readStat } from "../../src/service/os/proc.ts"
import { readTreeMemory } from "../../src/service/os/trees/tree-memory.ts"

/** The executable that a user would have downloaded; `bun run build` makes it. */
export const executable =
  process.env["TEST_EXECUTABLE"] ?? join(import.meta.dir, "../../dist/cc-executor")

/** Every test about process trees runs in each of these. */
export const containmentModes: ContainmentMode[] = ["cgroup", "best-effort"]

export type ServiceOptions = {
  /** Another build of the executable. */
  executable?: string
  /** Settings by their flag, without the dashes. */
  flags?: Record<string, string>
  env?: Record<string, string>
  /** To start again on what an earlier service left. */
  stateDir?: string
  /** A program that turns itself into the service: `unshare`, `setpriv`. */
  prefix?: string[]
  cwd?: string
}

const endMs = 30_000

const Lock = z.object({ pid: z.int() })
const Trees = z.object({ gateway: z.object({ pid: z.int() }).nullable() })

/** A real service with its own state directory and port, ended when it is disposed. */
export class Service implements AsyncDisposable {
  readonly stateDir: string
  readonly #ownsStateDir: boolean
  readonly #process: Bun.Subprocess<"ignore", "pipe", "pipe">
  readonly #said: string[] = []
  readonly #log: string[] = []
  readonly #listening = Promise.withResolvers<URL>()

  constructor(options: ServiceOptions = {}) {
    this.#ownsStateDir = options.stateDir === undefined
    this.stateDir = options.stateDir ?? mkdtempSync(join(tmpdir(), "cc-executor-test-"))
    const flags = { port: "0", "state-dir": this.stateDir, "log-format": "json", ...options.flags }
    const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])
    const program = options.executable ?? executable
    this.#process = Bun.spawn([...(options.prefix ?? []), program, "serve", ...args], {
      cwd: options.cwd ?? process.cwd(),
      env: { ...process.env, ...options.env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    })
    void collectLines(this.#process.stdout, (line) => this.#log.push(line))
    void collectLines(this.#process.stderr, (line) => this.#hear(line)).then(() =>
      this.#listening.reject(new Error(`the service ended: ${this.#said.join("\n")}`)),
    )
    this.#listening.promise.catch(() => undefined)
  }

  /** Starts a service and waits until it listens. */
  static async start(options: ServiceOptions = {}): Promise<Service> {
    const service = new Service(options)
    await service.listening
    return service
  }

  /** The WebSocket's address, once it listens. */
  get listening(): Promise<URL> {
    return this.#listening.promise
  }

  get pid(): number {
    return this.#process.pid
  }

  get gatewayPid(): number {
    const trees = Trees.parse(JSON.parse(readFileSync(join(this.stateDir, "trees.json"), "utf8")))
    if (trees.gateway === null) throw new Error("there is no gateway at the moment")
    return trees.gateway.pid
  }

  /** The pid that the state directory's lock names: the keeper's. */
  get lockedBy(): number {
    return Lock.parse(JSON.parse(readFileSync(join(this.stateDir, "lock"), "utf8"))).pid
  }

  /** What it said on standard error, and its log, line by line. */
  get said(): readonly string[] {
    return this.#said
  }

  get log(): readonly string[] {
    return this.#log
  }

  get exited(): Promise<number> {
    return this.#process.exited
  }

  async url(path = "/ws/mcp"): Promise<string> {
    const { host, protocol } = await this.listening
    const scheme = path === "/ws/mcp" ? protocol : protocol.replace("ws", "http")
    return `${scheme}//${host}${path}`
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      this.#process.kill("SIGTERM")
      await this.#gone()
    }
    if (!this.#ownsStateDir) return
    removeCgroupBase(this.stateDir)
    rmSync(this.stateDir, { recursive: true, force: true })
  }

  /** One that does not end, or whose wrapper does not, must not keep a failed test from failing. */
  async #gone(): Promise<void> {
    const limit = AbortSignal.timeout(endMs)
    const late = Promise.withResolvers<"late">()
    limit.addEventListener("abort", () => late.resolve("late"), { once: true })
    if ((await Promise.race([this.#process.exited, late.promise])) !== "late") return
    this.#process.kill("SIGKILL")
    await this.#process.exited
    throw new Error(`the service did not end within ${endMs} ms of SIGTERM`)
  }

  #hear(line: string): void {
    this.#said.push(line)
    const address = /listening on (wss?:\S+)/.exec(line)?.[1]
    if (address !== undefined) this.#listening.resolve(new URL(address))
    else if (/listening on unix:/.test(line)) this.#listening.resolve(new URL("ws://localhost/"))
  }
}

/** A service that was killed leaves the empty directory for the next one on its state. */
function removeCgroupBase(stateDir: string): void {
  const base = readTreeMemory(stateDir)?.cgroupBase ?? null
  try {
    if (base !== null) rmdirSync(base)
  } catch (error) {
    if (!isErrno(error, "ENOENT", "EBUSY", "ENOTEMPTY")) throw error
  }
}

export function isRunning(pid: number): boolean {
  const stat = readStat(pid)
  return stat !== null && stat.state !== "Z"
}

export async function collectLines(
  output: ReadableStream<Uint8Array>,
  take: (line: string) => void,
): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ""
  for await (const piece of output) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) take(line)
  }
  if (rest !== "") take(rest)
}
