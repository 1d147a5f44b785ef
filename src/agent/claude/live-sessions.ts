import { readdirSync, realpathSync, statSync } from "node:fs"
import { join } from "node:path"
import { readOwned } from "../../lib/owned-file.ts"
import { tryParseJson } from "../../lib/parse-json.ts"
import { isFileTrouble } from "../../lib/untrusted-file.ts"
import { isAlive, readStat } from "../../service/os/proc.ts"
import { fieldsOf, textOf } from "./fields.ts"

// Whoever asks has chosen the folder, and everybody else waits while it is looked through.
const mostBytes = 16 * 1024
const mostFolderBytes = 512 * 1024
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
  for (const { path, pid } of notesIn(join(folder, "sessions"))) {
    // One that was killed may wait to be reaped, and most notes are of those that are long gone.
    const stat = readStat(pid)
    if (stat === null || !isAlive(stat)) continue
    const note = fieldsOf(tryParseJson(textIn(path)))
    if (textOf(note["sessionId"]) !== sessionId) continue
    // A pid alone may be another process's by now.
    if (String(stat.startTicks) === String(note["procStart"])) return pid
  }
  return null
}

/** They are named after the process. */
function notesIn(folder: string): { path: string; pid: number }[] {
  try {
    const real = realpathSync(folder)
    if (statSync(real).size > mostFolderBytes) return []
    const names = readdirSync(real).filter((name) => /^\d+\.json$/.test(name))
    const notes = names.map((name) => ({ path: join(real, name), pid: Number.parseInt(name, 10) }))
    return notes.slice(0, mostFiles)
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
