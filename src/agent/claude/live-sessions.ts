import { readdirSync, realpathSync } from "node:fs"
import { join } from "node:path"
import { readOwned } from "../../lib/owned-file.ts"
import { tryParseJson } from "../../lib/parse-json.ts"
import { isFileTrouble } from "../../lib/untrusted-file.ts"
import { isAlive, readStat } from "../../service/os/proc.ts"
import { fieldsOf, numberOf, textOf } from "./fields.ts"

const mostBytes = 64 * 1024
const mostFiles = 1000

export function configurationFolder(env: Record<string, string | undefined>): string | null {
  const folder = env["CLAUDE_CONFIG_DIR"]
  if (folder !== undefined && folder !== "") return folder
  const home = env["HOME"]
  return home === undefined || home === "" ? null : join(home, ".claude")
}

/**
 * The process that has a session open, as Claude Code itself notes it; null when none lives. Two
 * that write one session destroy it, and nothing in Claude Code keeps them from it.
 */
export function processWithSession(
  env: Record<string, string | undefined>,
  sessionId: string,
): number | null {
  const folder = configurationFolder(env)
  if (folder === null) return null
  for (const path of notesIn(join(folder, "sessions"))) {
    const note = fieldsOf(tryParseJson(textIn(path)))
    const pid = numberOf(note["pid"])
    if (textOf(note["sessionId"]) !== sessionId || pid === null) continue
    // A pid alone may be another process's by now, and one that was killed may wait to be reaped.
    const stat = readStat(pid)
    if (isAlive(stat) && String(stat?.startTicks) === String(note["procStart"])) return pid
  }
  return null
}

function notesIn(folder: string): string[] {
  try {
    const real = realpathSync(folder)
    const names = readdirSync(real).filter((name) => /^\d+\.json$/.test(name))
    return names.slice(0, mostFiles).map((name) => join(real, name))
  } catch (error) {
    if (isFileTrouble(error)) return [] // whoever asks has chosen the folder
    throw error
  }
}

function textIn(path: string): string {
  try {
    return readOwned(path, mostBytes)?.toString("utf8") ?? ""
  } catch (error) {
    if (isFileTrouble(error)) return "" // another one's, or gone meanwhile
    throw error
  }
}
