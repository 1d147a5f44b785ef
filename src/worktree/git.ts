import { tmpdir } from "node:os"

/** Whatever is wrong ends the request: there is one a process. The message is for people. */
export class Refusal extends Error {}

export type Ran = { exitCode: number; out: string; err: string }

type RunOptions = { stdin?: string; env?: Record<string, string>; reads?: boolean }

/**
 * Nothing that belongs to the repository is run for its own sake: no hook, no watcher of files.
 * Filters are, as files would be wrong without them.
 */
const settings = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "submodule.recurse=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "advice.addEmbeddedRepo=false",
]

/** Git, as the user of this process, in the directory that is named and in no other. */
export class Git {
  readonly #program: string
  readonly #env: Record<string, string | undefined>
  readonly #isRoot: boolean

  constructor(program: string, env: Record<string, string | undefined>, isRoot: boolean) {
    this.#program = program
    this.#isRoot = isRoot
    // Those of whoever has called would have it work elsewhere, or otherwise.
    const own = Object.entries(env).filter(([name]) => !/^(?:GIT|SUDO)_/.test(name) || isFile(name))
    this.#env = {
      ...Object.fromEntries(own),
      LC_ALL: "C",
      GIT_TERMINAL_PROMPT: "0",
      GIT_EDITOR: "true",
      TMPDIR: env["TMPDIR"] ?? tmpdir(),
    }
  }

  async run(cwd: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    // An empty value forgets all: root runs nothing of what a repository of others configures,
    // not even where somebody has called every directory safe.
    const safe = this.#isRoot ? [...settings, "safe.directory="] : settings
    const given = safe.flatMap((setting) => ["-c", setting])
    const reads = options.reads === true ? { GIT_OPTIONAL_LOCKS: "0" } : {}
    const child = Bun.spawn([this.#program, ...given, "-C", cwd, ...args], {
      env: { ...this.#env, ...reads, ...options.env },
      stdin: Buffer.from(options.stdin ?? ""),
      stdout: "pipe",
      stderr: "pipe",
    })
    const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
    return { exitCode: await child.exited, out, err }
  }

  /** What it writes, without the line end; what it refuses is refused in its words. */
  async text(cwd: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
    const ran = await this.run(cwd, args, options)
    if (ran.exitCode !== 0) throw new Refusal(wordsOf(ran, args))
    return ran.out.replace(/\n$/, "")
  }

  /** The same for what is written with a NUL after each. */
  async names(cwd: string, args: readonly string[], options: RunOptions = {}): Promise<string[]> {
    const text = await this.text(cwd, args, { reads: true, ...options })
    return text.split("\0").filter((name) => name !== "")
  }

  async succeeds(cwd: string, args: readonly string[]): Promise<boolean> {
    return (await this.run(cwd, args, { reads: true })).exitCode === 0
  }
}

/** Where somebody's own settings are. */
function isFile(name: string): boolean {
  return /^GIT_CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM)$/.test(name)
}

export function wordsOf({ err, exitCode }: Ran, [what = ""]: readonly string[]): string {
  const said = err
    .split("\n")
    .map((line) => line.replace(/^(?:fatal|error): /, "").trim())
    .filter((line) => line !== "" && !line.startsWith("hint:"))
    .slice(0, 5)
    .join("; ")
  return `git ${what}: ${said === "" ? `exit code ${exitCode}` : said}`
}
