import { pythonImports } from "../../scripts/system-packages.ts"
import { noClaudeCode } from "../support/claude-code.ts"
import type { Block } from "./document.ts"
import { noMachine } from "./machine.ts"

// Programs of others that documents use; scripts/system-packages.ts installs them where it may.
const programs = ["curl", "jq", "make", "openssl", "sqlite3", "git", "python3"]

/** Why a block is not run here, or null. */
export function obstacleOf({ language, text, comments }: Block): string | null {
  if (comments.notRun !== null) return comments.notRun
  if (comments.runBy !== null) return null
  if (noMachine !== null) return noMachine
  if (comments.given.includes("claude") && noClaudeCode !== null) return noClaudeCode
  if (language === "python" && !pythonImports("websockets")) return "needs python3-websockets"
  const isTyped = language === "sh" || language === "console"
  const used = programs.filter(
    (name) => isTyped && new RegExp(`(?:^|[|;&(] ?|\\$ )${name} `, "m").test(text),
  )
  const missing = used.filter((name) => Bun.which(name) === null)
  return missing.length === 0 ? null : `needs ${missing.join(", ")}`
}
