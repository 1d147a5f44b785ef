import { existsSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { isErrno } from "../../../lib/errno.ts"
import { inDirectoryLock } from "../../../service/os/directory-lock.ts"
import { WorkFailure } from "../work-failure.ts"

export type GitOptions = { env?: Readonly<Record<string, string>>; input?: string | Uint8Array }

/** Git in one directory, whatever its user has set up for themselves. */
export type Git = {
  readonly directory: string
  /** Its standard output; a WorkFailure where it does not succeed. */
  (args: readonly string[], options?: GitOptions): Promise<string>
}

/** Runs no hook and no other program, signs nothing, asks nobody, and tidies nothing up. */
const settings = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.quotePath=true",
  "commit.gpgSign=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "advice.addEmbeddedRepo=false",
  "core.safecrlf=false",
  "submodule.recurse=false",
  "diff.external=",
  "user.name=cc-executor",
  "user.email=cc-executor@localhost",
].flatMap((setting) => ["-c", setting])

/** Null where the directory is in no repository. */
export function findRepository(directory: string): string | null {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at
    if (dirname(at) === at) return null
  }
}

export function gitIn(
  directory: string,
  environment: Readonly<Record<string, string | undefined>>,
): Git {
  // Whoever is called by a hook has the variables of another repository.
  const inherited = Object.entries(environment).filter(([name]) => !name.startsWith("GIT_"))
  const quiet = { GIT_TERMINAL_PROMPT: "0", GIT_OPTIONAL_LOCKS: "0", GIT_EDITOR: "false" }
  const env = { ...Object.fromEntries(inherited), LC_ALL: "C", ...quiet }
  const run = (args: readonly string[], options: GitOptions = {}) =>
    runGit(directory, args, { ...env, ...options.env }, options.input)
  return Object.assign(run, { directory })
}

/** Git reads what it has half written of another worktree: so only one is made at a time. */
export async function changeWorktrees<Value>(git: Git, use: () => Promise<Value>): Promise<Value> {
  const directory = (await git(["rev-parse", "--git-common-dir"])).trim()
  const done = await inDirectoryLock(resolve(git.directory, directory), use)
  if (done !== null) return done.value
  throw new WorkFailure(`${directory} has been locked by another process for a minute: try again.`)
}

/** Of a command of git that says no by its exit code; then this is null. */
export async function answerOf(asked: Promise<string>): Promise<string | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof GitFailure && error.exitCode === 1) return null
    throw error
  }
}

class GitFailure extends WorkFailure {
  readonly exitCode: number

  constructor(message: string, exitCode: number) {
    super(message)
    this.exitCode = exitCode
  }
}

async function runGit(
  directory: string,
  args: readonly string[],
  env: Record<string, string | undefined>,
  input: string | Uint8Array | undefined,
): Promise<string> {
  const child = spawnGit(directory, args, env, input)
  const [stdout, stderr, exitCode] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ])
  if (exitCode === 0) return stdout
  const said = stderr.trim() === "" ? `exit ${exitCode}` : stderr.trim()
  throw new GitFailure(`\`git ${args[0]}\` failed in ${directory}: ${said}`, exitCode)
}

function spawnGit(
  cwd: string,
  args: readonly string[],
  env: Record<string, string | undefined>,
  input: string | Uint8Array | undefined,
) {
  const stdin = input === undefined ? "ignore" : Buffer.from(input)
  try {
    const streams = { stdin, stdout: "pipe", stderr: "pipe" } as const
    return Bun.spawn(["git", ...settings, ...args], { cwd, env, ...streams })
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error
    throw new WorkFailure(
      `${cwd} is a git repository, but git could not be run: install it, and put it on the PATH.`,
    )
  }
}
