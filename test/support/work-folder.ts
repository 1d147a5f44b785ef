import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { executable, type Service } from "./service.ts"
import { temporaryFolder } from "./temporary-folder.ts"

export type Finished = { exitCode: number; stdout: string; stderr: string }

/** A directory with works in it, and a home of its own for whoever runs them. */
export class WorkFolder implements AsyncDisposable {
  readonly #own = temporaryFolder()
  readonly #stateDir: string
  readonly path = join(this.#own.path, "project")
  readonly places = join(this.#own.path, "cache", "cc-executor", "work")

  constructor(service: Pick<Service, "stateDir">, files: Record<string, string> = {}) {
    this.#stateDir = service.stateDir
    mkdirSync(this.path)
    for (const [name, text] of Object.entries(files)) this.write(name, text)
  }

  env(more: Record<string, string> = {}): Record<string, string | undefined> {
    const XDG_CACHE_HOME = join(this.#own.path, "cache")
    const own = { CC_EXECUTOR_STATE_DIR: this.#stateDir, XDG_CACHE_HOME, PROGRAM: executable }
    return { ...process.env, ...own, ...more }
  }

  write(name: string, text: string): void {
    mkdirSync(dirname(join(this.path, name)), { recursive: true })
    writeFileSync(join(this.path, name), text)
  }

  read(name: string): string {
    return readFileSync(join(this.path, name), "utf8")
  }

  has(name: string): boolean {
    return existsSync(join(this.path, name))
  }

  /** Lines of the ledger of a work. */
  ledger(name: string): string[] {
    return this.read(`${name}.intoto.jsonl`)
      .split("\n")
      .filter((line) => line !== "")
  }

  start(...argv: string[]): Bun.Subprocess<"ignore", "pipe", "pipe"> {
    const streams = { stdin: "ignore", stdout: "pipe", stderr: "pipe" } as const
    return Bun.spawn([executable, ...argv], { cwd: this.path, env: this.env(), ...streams })
  }

  async run(...argv: string[]): Promise<Finished> {
    const program = this.start(...argv)
    const output = Promise.all([program.stdout.text(), program.stderr.text()])
    const [[stdout, stderr], exitCode] = await Promise.all([output, program.exited])
    return { exitCode, stdout, stderr }
  }

  /** With `--json`, which prints one document. */
  async json(...argv: string[]): Promise<Record<string, unknown> & { exitCode: number }> {
    const { stdout, stderr, exitCode } = await this.run(...argv, "--json")
    if (stdout === "") throw new Error(`${argv.join(" ")}: ${stderr}`)
    return { ...JSON.parse(stdout), exitCode }
  }

  git(...args: string[]): string {
    const who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    const { stdout, stderr, exitCode } = Bun.spawnSync(["git", ...who, ...args], { cwd: this.path })
    if (exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${stderr.toString()}`)
    return stdout.toString().trim()
  }

  commitAll(): void {
    if (!this.has(".git")) this.git("init", "-q")
    this.git("add", "-A")
    this.git("commit", "-q", "-m", "all")
  }

  /** What a runner has left behind: places, worktrees, drafts. */
  get leftovers(): string[] {
    const places = existsSync(this.places) ? readdirSync(this.places) : []
    const drafts = readdirSync(this.path).filter((name) => name.endsWith("-draft"))
    const worktrees = this.has(".git") ? this.git("worktree", "list").split("\n").slice(1) : []
    return [...places, ...drafts, ...worktrees]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#own[Symbol.dispose]()
  }
}
