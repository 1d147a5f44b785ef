import { fail, ok, type Result } from "../lib/result.ts"
import { badValueText, settingsIn } from "./setting.ts"
import { absolutePath } from "./text-form.ts"

type Environment = Readonly<Record<string, string | undefined>>

const form = absolutePath()
const facts = {
  defaultText: "~/.local/state/cc-executor",
  example: "/var/lib/cc-executor",
  description: "Journal, transcripts, key, unix socket; the default respects `$XDG_STATE_HOME`.",
} as const

export const stateDirSetting = settingsIn("Disk")(form, facts)

export type StateDirSources = { flag: string | undefined; env: Environment; home: string }

/**
 * Where the state is, and nothing else: a client of the service has no use for the other settings,
 * and to take them all apart takes longer than the rest of its start.
 */
export function loadStateDir({ flag, env, home }: StateDirSources): Result<string, string> {
  const variable = env["CC_EXECUTOR_STATE_DIR"]
  const source = flag === undefined ? "CC_EXECUTOR_STATE_DIR" : "--state-dir"
  const text = expandHome(flag ?? variable ?? defaultStateDir(env), home)
  const read = form.schema.safeParse(text)
  return read.success ? ok(read.data) : fail(badValueText({ ...form, ...facts }, source, text))
}

export function defaultStateDir(env: Environment): string {
  // The XDG base directory specification has relative paths ignored.
  const stateHome = env["XDG_STATE_HOME"] ?? ""
  return stateHome.startsWith("/") ? `${stateHome}/cc-executor` : facts.defaultText
}

/** Shells leave the tilde alone in `--log-file=~/log`, and nobody expands it in a unit file. */
export function expandHome(text: string, home: string): string {
  return text.startsWith("~/") ? `${home}${text.slice(1)}` : text
}
