import { version } from "../../package.json"
import { root } from "../steps.ts"

/** What the program says of itself. Nothing of it depends on when or where the build runs. */
export type BuildFacts = {
  version: string
  /** Twelve digits, with `-dirty` behind them when the tree is not what was committed. */
  commit: string
  /** When the commit was made, or what SOURCE_DATE_EPOCH says; null without either. */
  built: string | null
}

type Environment = Record<string, string | undefined>

/**
 * From git. Where there is none, as in an image's build, CC_EXECUTOR_BUILD_COMMIT and
 * SOURCE_DATE_EPOCH say it.
 */
export function buildFacts(env: Environment = process.env, folder = root): BuildFacts {
  const commit = env["CC_EXECUTOR_BUILD_COMMIT"] ?? ""
  return {
    version,
    commit: commit === "" ? commitOf(folder) : commit,
    built: builtAt(env["SOURCE_DATE_EPOCH"] ?? "", folder),
  }
}

function commitOf(folder: string): string {
  const head = git(folder, "rev-parse", "--short=12", "HEAD")
  if (head === null) return "unknown"
  const changes = git(folder, "status", "--porcelain")
  return changes === "" ? head : `${head}-dirty`
}

function builtAt(epoch: string, folder: string): string | null {
  const seconds = epoch === "" ? git(folder, "log", "-1", "--format=%ct") : epoch
  if (seconds === null) return null
  if (!/^\d{1,11}$/.test(seconds)) {
    throw new Error(`SOURCE_DATE_EPOCH is "${seconds}": give seconds since 1970, as in 1700000000.`)
  }
  return new Date(Number(seconds) * 1000).toISOString().replace(".000Z", "Z")
}

function git(folder: string, ...args: string[]): string | null {
  if (Bun.which("git") === null) return null
  const done = Bun.spawnSync(["git", ...args], { cwd: folder, stderr: "ignore" })
  return done.exitCode === 0 ? done.stdout.toString().trim() : null
}
