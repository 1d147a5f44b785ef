import { cpSync, existsSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../scripts/steps.ts"
import { toolFolder } from "../../scripts/test-tools.ts"
import { isErrno } from "../../src/lib/errno.ts"
import { collectLines, executable } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { notRoot } from "../support/test-unless.ts"
import { until } from "../support/until.ts"

const namespaces = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"]

/** Why there can be no machine here, or null. */
export const noMachine = findObstacle()

export type Ran = { exitCode: number; printed: string[] }

/** A throw-away copy of this machine, with a shell in which a document's commands are typed. */
export class Machine implements AsyncDisposable {
  readonly #shared = temporaryFolder()
  readonly #shell: Bun.Subprocess<"pipe", "pipe", "pipe">
  readonly #answers = new Map<string, number>()
  readonly #running: string[] = []
  #complaint = ""
  #steps = 0

  constructor() {
    for (const script of ["machine.sh", "typed.sh"]) {
      cpSync(join(import.meta.dir, script), this.#path(script))
    }
    const present = [root, toolFolder("claude-code")].filter((folder) => folder !== null)
    const programs = [executable, process.execPath]
    const script = [this.#path("machine.sh"), this.#shared.path, ...programs, ...present]
    this.#shell = Bun.spawn([...namespaces, "bash", ...script], {
      env: environment,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
    })
    void collectLines(this.#shell.stdout, (line) => {
      const [what = "", step = "", code = ""] = line.split(" ")
      this.#answers.set(`${what} ${step}`, Number(code))
    })
    void collectLines(this.#shell.stderr, (line) => (this.#complaint += `${line}\n`))
  }

  /** Runs a script in the shell itself, to its end. */
  async run(script: string, limitMs = 50_000): Promise<Ran> {
    const step = this.#write(script)
    const exitCode = await this.#ask(`step ${step}`, `ended ${step}`, limitMs)
    return { exitCode, printed: this.printed(step) }
  }

  /** Starts a script beside the shell; what it is called by from then on. */
  async start(script: string): Promise<string> {
    const step = this.#write(script)
    await this.#ask(`start ${step}`, `started ${step}`)
    this.#running.push(step)
    return step
  }

  printed(step: string): string[] {
    const text = readFileSync(this.#path(`${step}.out`), "utf8")
    return text.replace(/\n$/, "").split("\n")
  }

  /** Ends what was started as Ctrl-C would, and waits for its end. */
  async interrupt(step: string, signal = "INT"): Promise<Ran> {
    const exitCode = await this.#ask(`finish ${step} ${signal}`, `ended ${step}`)
    this.#running.splice(this.#running.indexOf(step), 1)
    return { exitCode, printed: this.printed(step) }
  }

  /** A section begins at home, with nothing running of those before. */
  async beginSection(): Promise<void> {
    for (const step of this.#running.toReversed()) await this.interrupt(step, "TERM")
    const stop = 'test ! -S "$HOME/.local/state/cc-executor/gateway.sock" || cc-executor stop --now'
    // Where a section has pointed the command line, the next one is not.
    await this.run(`unset \${!CC_EXECUTOR_@}; cd; ${stop}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    using _shared = this.#shared // goes last, also when the machine does not end as it should
    if (!this.#hasEnded) await this.beginSection()
    await this.#shell.stdin.end()
    await this.#shell.exited
    await until("its cgroup is gone", () => this.#removeCgroup())
  }

  /** What a service that was killed with the machine has left is empty a moment later. */
  #removeCgroup(): boolean {
    if (!existsSync(this.#path("cgroup"))) return true
    const cgroup = readFileSync(this.#path("cgroup"), "utf8").trim()
    const inner = readdirSync(cgroup, { recursive: true, withFileTypes: true })
    const folders = inner.filter((entry) => entry.isDirectory())
    const paths = folders.map((entry) => join(entry.parentPath, entry.name))
    const deepestFirst = paths.toSorted((one, other) => other.length - one.length)
    try {
      for (const folder of [...deepestFirst, cgroup]) rmdirSync(folder)
      return true
    } catch (error) {
      if (!isErrno(error, "EBUSY", "ENOTEMPTY")) throw error
      return false
    }
  }

  get #hasEnded(): boolean {
    return this.#shell.exitCode !== null || this.#shell.signalCode !== null
  }

  #write(script: string): string {
    const step = String(++this.#steps)
    writeFileSync(this.#path(`${step}.sh`), script)
    writeFileSync(this.#path(`${step}.out`), "")
    return step
  }

  async #ask(request: string, answer: string, limitMs = 50_000): Promise<number> {
    await this.#shell.stdin.write(`${request}\n`)
    await this.#shell.stdin.flush()
    const answered = () => this.#answers.has(answer) || this.#hasEnded
    const step = answer.split(" ")[1] ?? ""
    await until(`${request} is done`, answered, limitMs).catch(async (error: unknown) => {
      // Nothing can be typed while a command has the shell: what follows must not wait for it too.
      this.#shell.kill("SIGKILL")
      await this.#shell.exited
      throw new Error(`${String(error)}; it printed:\n${this.printed(step).join("\n")}`)
    })
    const code = this.#answers.get(answer)
    if (code !== undefined) return code
    const printed = this.printed(step).join("\n")
    throw new Error(`the shell ended (${this.#shell.exitCode}): ${printed}\n${this.#complaint}`)
  }

  #path(name: string): string {
    return join(this.#shared.path, name)
  }
}

const environment = {
  HOME: "/home/you",
  USER: "root",
  LOGNAME: "root",
  SHELL: "/bin/bash",
  LANG: "C.UTF-8",
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
}

/** Found out by trying: containers often have a root that may not mount. */
function findObstacle(): string | null {
  if (notRoot !== null) return notRoot
  const missing = ["unshare", "ip", "bash", "chroot"].filter((name) => Bun.which(name) === null)
  if (missing.length > 0) return `needs ${missing.join(", ")}`
  using folder = temporaryFolder()
  const layers = "lowerdir=/,upperdir=upper,workdir=work"
  const script = `cd ${folder.path} && mount -t tmpfs tmpfs . && cd ${folder.path} &&
    mkdir upper work all && mount -t overlay overlay -o ${layers} all && ip link set lo up`
  const tried = Bun.spawnSync([...namespaces, "bash", "-c", script])
  return tried.exitCode === 0 ? null : `may not make a machine: ${tried.stderr.toString().trim()}`
}
