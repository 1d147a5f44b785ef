import { chmodSync, copyFileSync, cpSync, lstatSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { type RunningKeeper, runningKeeper } from "../../src/cli/connect/running-keeper.ts"
import { delay } from "../../src/lib/delay.ts"
import { isErrno } from "../../src/lib/errno.ts"
import { UntrustedFileError } from "../../src/lib/untrusted-file.ts"
import { isSameProcess } from "../../src/service/os/proc.ts"
import { statePathsIn } from "../../src/service/storage/state-paths.ts"
import { asUser, giveAway, owner, secret } from "./planted-state.ts"
import { executable } from "./service.ts"
import { temporaryFolder } from "./temporary-folder.ts"
import { until } from "./until.ts"

export type Finished = { exitCode: number; stdout: string; stderr: string; isLate: boolean }

/** Nothing waits for longer than this, whatever it finds. */
const mostWaitMs = 2_000

/** A state directory of another user's, and the executable where everybody can reach it. */
export class OwnersHome implements Disposable {
  readonly #folder = temporaryFolder()
  readonly program = join(this.#folder.path, "cc-executor")
  readonly stateDir = join(this.#folder.path, "state")

  constructor() {
    chmodSync(this.#folder.path, 0o755)
    copyFileSync(executable, this.program)
    chmodSync(this.program, 0o755)
    mkdirSync(this.stateDir)
    giveAway(this.stateDir)
  }

  /** Leaves what a service leaves that has run a command: its id, and everything else. */
  async fill(): Promise<string> {
    const { stdout } = await this.use(["run", "-d", "--", "echo", "hi"], this.stateDir, owner)
    const id = stdout.trim()
    await this.use(["wait", id], this.stateDir, owner)
    await this.use(["token", "create", "--name", "x"], this.stateDir, owner)
    await this.use(["stop"], this.stateDir, owner)
    return id
  }

  /** Runs a command to its end, unless it is overtaken; a service, until it is ready. */
  async use(
    line: readonly string[],
    stateDir: string,
    uid: number,
    waitMs = mostWaitMs,
  ): Promise<Finished> {
    using command = new Running(this.program, line, stateDir, uid)
    const overtaken = new AbortController()
    const isLate = this.#overtake(line, uid, waitMs, overtaken.signal)
    await Promise.race([command.ended, isLate])
    overtaken.abort()
    command.kill("SIGKILL")
    return { ...(await command.ended), isLate: await isLate }
  }

  /**
   * How long a command takes says little where others keep the machine busy. One that began so much
   * later, on a sound directory, has the same share of it: where that is done twice before the
   * first has ended, the first waits for something that does not come.
   */
  async #overtake(
    line: readonly string[],
    uid: number,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    await delay(waitMs, signal)
    for (let times = 0; times < 2; times += 1) {
      if (signal.aborted) return false
      using sound = this.copy()
      using command = new Running(this.program, line, sound.stateDir, uid)
      await command.ended
      await endService(sound.stateDir)
    }
    return !signal.aborted
  }

  /** Of the state directory, for one use. */
  copy(): Disposable & { stateDir: string } {
    const own = temporaryFolder()
    chmodSync(own.path, 0o755)
    const stateDir = join(own.path, "state")
    // A service that runs meanwhile has a socket there, which cannot be copied.
    const filter = (path: string) => !lstatSync(path).isSocket()
    cpSync(this.stateDir, stateDir, { recursive: true, preserveTimestamps: true, filter })
    giveAway(stateDir)
    return { stateDir, [Symbol.dispose]: () => own[Symbol.dispose]() }
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]()
  }
}

/** A command on a state directory; `serve` is asked to end as soon as it serves. */
class Running implements Disposable {
  readonly #child: Bun.Subprocess<Buffer, "pipe", "pipe">
  readonly ended: Promise<Omit<Finished, "isLate">>

  constructor(program: string, line: readonly string[], stateDir: string, uid: number) {
    const ofRoot = uid === 0 ? { ROOTS_SECRET: secret } : {}
    this.#child = Bun.spawn([...(uid === 0 ? [] : asUser(uid)), program, ...line], {
      cwd: "/",
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: "/",
        CC_EXECUTOR_STATE_DIR: stateDir,
        ...ofRoot,
      },
      stdin: Buffer.from(`${opening}\n`),
      stdout: "pipe",
      stderr: "pipe",
    })
    this.ended = this.#finish(line[0] === "serve")
  }

  kill(signal: "SIGKILL" | "SIGTERM"): void {
    this.#child.kill(signal)
  }

  async #finish(isService: boolean): Promise<Omit<Finished, "isLate">> {
    let stderr = ""
    const decoder = new TextDecoder()
    const hear = async () => {
      for await (const bytes of this.#child.stderr) {
        stderr += decoder.decode(bytes, { stream: true })
        if (isService && stderr.includes("listening on unix:")) this.kill("SIGTERM")
      }
    }
    const [stdout] = await Promise.all([this.#child.stdout.text(), hear()])
    return { exitCode: await this.#child.exited, stdout, stderr }
  }

  [Symbol.dispose](): void {
    this.#child.kill("SIGKILL")
  }
}

/** Ends what a command has started there; nothing else, whatever a lock claims. */
export async function endService(stateDir: string): Promise<void> {
  const keeper = keeperOf(stateDir)
  if (keeper === null) return
  process.kill(keeper.pid, "SIGTERM")
  await until("the service has ended", () => !isSameProcess(keeper))
}

function keeperOf(stateDir: string): RunningKeeper | null {
  try {
    return runningKeeper(statePathsIn(stateDir).lock)
  } catch (error) {
    if (error instanceof UntrustedFileError || isErrno(error, "ENOENT")) return null
    throw error
  }
}

/** For `mcp`, which does nothing before it is asked. */
const clientInfo = { name: "test", version: "1" }
const opening = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo },
})

/**
 * Each command as it would use a state directory, or would not. `bridge` needs a target, and what
 * changes saved contexts uses a file of its user's.
 */
export function linesOf(id: string): Readonly<Record<string, readonly string[][]>> {
  return {
    run: [
      ["run", "--", "true"],
      ["run", "-d", "--", "true"],
    ],
    rerun: [["rerun", id]],
    attach: [["attach", id]],
    wait: [["wait", id]],
    claude: [["claude", "-d", "begin"]],
    inbox: [["inbox"]],
    "agent attach": [["agent", "attach", id]],
    "agent status": [["agent", "status", id]],
    "agent send": [["agent", "send", id, "text"]],
    "agent answer": [["agent", "answer", id, "q1", "allow"]],
    "agent interrupt": [["agent", "interrupt", id]],
    "agent configure": [["agent", "configure", "--model", "m", id]],
    "agent changes": [["agent", "changes", id]],
    "agent take": [["agent", "take", id]],
    "agent drop": [["agent", "drop", id]],
    "agent end": [["agent", "end", id]],
    "prompt new": [],
    "prompt check": [],
    "prompt run": [["prompt", "run", "/no.md"]],
    "prompt compare": [["prompt", "compare", "/no.md", "/none.md"]],
    "prompt graduate": [["prompt", "graduate", "/no.md"]],
    "tasks new": [],
    "tasks check": [],
    "tasks run": [["tasks", "run", "/no.md"]],
    "tasks status": [["tasks", "status", "/no.md"]],
    "tasks accept": [["tasks", "accept", "/no.md", "T01", "--why", "x"]],
    "tasks report": [["tasks", "report", "/no.md"]],
    "review request": [],
    "review run": [["review", "run", "/no.md"]],
    "review fix": [["review", "fix", "/no.json"]],
    "review status": [["review", "status", "/no.json"]],
    "review verification": [["review", "verification", "/no.json", "1", "--run", "true"]],
    "review usage": [["review", "usage", "/no.md"]],
    "review check": [],
    "review submit": [["review", "submit", "/no.md"]],
    adopt: [["adopt", "/no.md"]],
    render: [["render", "/no.md"]],
    "suite run": [["suite", "run", "/no.json"]],
    badge: [["badge", "/no.md"]],
    "resume-work": [["resume-work", "/var/empty"]],
    ps: [["ps"], ["ps", "-a"]],
    inspect: [["inspect", id]],
    logs: [["logs", id], ["logs"]],
    "notify ls": [["notify", "ls"]],
    "notify test": [["notify", "test", "phone"]],
    pause: [["pause", id]],
    resume: [["resume", id]],
    cancel: [
      ["cancel", id],
      ["cancel", "--all"],
    ],
    signal: [["signal", "TERM", id]],
    send: [["send", id, "text"]],
    receipt: [
      ["receipt", id],
      ["receipt", "--public-key"],
    ],
    verify: [
      ["verify", id],
      ["verify", "--offline", id],
      ["verify", "/no.md"],
    ],
    audit: [["audit"], ["audit", "--verify"]],
    rm: [["rm", id]],
    prune: [["prune", "--all", "--force"]],
    "context add": [],
    "context use": [],
    "context list": [["context", "list"]],
    "context show": [["context", "show"]],
    "context remove": [],
    "token create": [["token", "create", "--name", "x"]],
    "token new": [["token", "new"]],
    "token show": [["token", "show"]],
    "token list": [["token", "list"]],
    "token revoke": [["token", "revoke", "--all"]],
    mcp: [["mcp"]],
    "mcp install": [["mcp", "install", "--list"]],
    bridge: [],
    "node ls": [["node", "ls"]],
    "node drain": [["node", "drain", "b"]],
    "node undrain": [["node", "undrain", "b"]],
    "node forget": [["node", "forget", "b"]],
    serve: [["serve", "--port", "none"]],
    stop: [["stop", "--timeout", "1s"]],
    upgrade: [["upgrade"]],
    doctor: [["doctor"]],
    policy: [
      ["policy", "check", "--", "true"],
      ["policy", "check", "--tool", "Bash"],
    ],
    healthcheck: [["healthcheck"]],
    completions: [
      ["completions", "bash"],
      ["__complete", "attach", ""],
    ],
    version: [["version"]],
  }
}
