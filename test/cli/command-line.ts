import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { z } from "zod"
import { keeperEnd, runningKeeper } from "../../src/cli/connect/running-keeper.ts"
import { SIGTERM, signalProcess } from "../../src/service/os/signals.ts"
import { executable } from "../support/service.ts"
import { until } from "../support/until.ts"

export type Finished = { exitCode: number; stdout: string; stderr: string; bytes: Uint8Array }
type Options = { input?: Uint8Array | string; env?: Record<string, string>; cwd?: string }

/** A user's terminal with a state directory of its own; its service ends with it. */
export class CommandLine implements AsyncDisposable {
  readonly stateDir = mkdtempSync(join(tmpdir(), "cc-executor-cli-"))

  env(more: Record<string, string> = {}): Record<string, string | undefined> {
    // Where these tests run unattended, the program they drive still has a person before it.
    const ofOthers = ["CC_EXECUTOR_URL", "CC_EXECUTOR_TOKEN", "CC_EXECUTOR_TOKEN_FILE", "CI"]
    const own = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !ofOthers.includes(name)),
    )
    return { ...own, CC_EXECUTOR_STATE_DIR: this.stateDir, PROGRAM: executable, ...more }
  }

  /** Runs the program to its end. */
  run(argv: readonly string[], options: Options = {}): Promise<Finished> {
    return this.runOther([executable, ...argv], options)
  }

  /** A shell that has the program's path in $PROGRAM, for one. */
  async runOther(argv: readonly string[], options: Options = {}): Promise<Finished> {
    const { input, env, cwd = this.stateDir } = options
    const program = Bun.spawn([...argv], {
      cwd,
      env: this.env(env),
      stdin: input === undefined ? "ignore" : Buffer.from(input),
      stdout: "pipe",
      stderr: "pipe",
    })
    const output = Promise.all([program.stdout.bytes(), program.stderr.text()])
    const [[bytes, stderr], exitCode] = await Promise.all([output, program.exited])
    return { exitCode, stdout: Buffer.from(bytes).toString("utf8"), stderr, bytes }
  }

  /** As `run`, but it must succeed, and only what it wrote is of interest. */
  async stdout(...argv: string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await this.run(argv)
    if (exitCode !== 0) throw new Error(`${argv.join(" ")}: exit code ${exitCode}: ${stderr}`)
    return stdout.trim()
  }

  start(...argv: string[]): Started {
    return this.startWith({}, ...argv)
  }

  startWith(env: Record<string, string>, ...argv: string[]): Started {
    return new Started([executable, ...argv], this.env(env), this.stateDir)
  }

  get keeperPid(): number {
    return readPid(join(this.stateDir, "lock"), z.object({ pid: z.int() })).pid
  }

  get gatewayPid(): number {
    const Trees = z.object({ gateway: z.object({ pid: z.int() }) })
    return readPid(join(this.stateDir, "trees.json"), Trees).gateway.pid
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await endNow(join(this.stateDir, "lock"))
    rmSync(this.stateDir, { recursive: true, force: true })
  }
}

// A second signal that comes sooner is taken for the first.
const insistAfterMs = 700
const endMs = 30_000

/** As `stop --now` does it, which takes a process more. */
async function endNow(lockPath: string): Promise<void> {
  const keeper = runningKeeper(lockPath)
  if (keeper === null) return
  signalProcess(keeper, SIGTERM)
  if (await keeperEnd(lockPath, keeper, insistAfterMs)) return
  signalProcess(keeper, SIGTERM)
  if (await keeperEnd(lockPath, keeper, endMs)) return
  throw new Error(`the service (pid ${keeper.pid}) did not end within ${endMs} ms`)
}

function readPid<Facts>(path: string, schema: z.ZodType<Facts>): Facts {
  return schema.parse(JSON.parse(readFileSync(path, "utf8")))
}

/** A program that still runs, with what it has written so far. */
export class Started implements AsyncDisposable {
  readonly #program: Bun.Subprocess<"ignore", "pipe", "pipe">
  readonly #collected: Promise<void[]>
  stdout = ""
  stderr = ""

  constructor(argv: string[], env: Record<string, string | undefined>, cwd: string) {
    const io = { stdin: "ignore", stdout: "pipe", stderr: "pipe" } as const
    this.#program = Bun.spawn(argv, { env, cwd, ...io })
    this.#collected = Promise.all([
      collect(this.#program.stdout, (text) => (this.stdout += text)),
      collect(this.#program.stderr, (text) => (this.stderr += text)),
    ])
  }

  get pid(): number {
    return this.#program.pid
  }

  get exited(): Promise<number> {
    return this.#collected.then(() => this.#program.exited)
  }

  untilSays(text: string): Promise<boolean> {
    return until(`it says ${text}; it said ${this.stdout}${this.stderr}`, () =>
      (this.stdout + this.stderr).includes(text),
    )
  }

  kill(signal: NodeJS.Signals): void {
    this.#program.kill(signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#program.kill("SIGKILL")
    await this.exited
  }
}

async function collect(
  output: ReadableStream<Uint8Array>,
  take: (text: string) => void,
): Promise<void> {
  const decoder = new TextDecoder()
  for await (const piece of output) take(decoder.decode(piece, { stream: true }))
}
