import { createHash } from "node:crypto"
import { basename, extname } from "node:path"

/** A line that says what is to be done, and the worktree in which it is done. */
export type PromptLine = { prompt: string; worktree: string }

const mostPrefixCharacters = 20
const mostSlugCharacters = 32

/** Blank lines, and those that begin with `#`, say nothing. */
export function promptLines(text: string, prefix: string): PromptLine[] {
  const seen = new Map<string, number>()
  const prompts = text.split("\n").map((line) => line.trim())
  return prompts
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((prompt) => {
      const times = (seen.get(prompt) ?? 0) + 1
      seen.set(prompt, times)
      const again = times === 1 ? "" : `-${times}`
      return { prompt, worktree: `${prefix}-${nameOf(prompt)}${again}` }
    })
}

/** Of all worktrees of a file; `-` is standard input. */
export function prefixOf(file: string): string {
  const name = file === "-" ? "" : basename(file, extname(file))
  const words = wordsIn(name).slice(0, mostPrefixCharacters).replace(/-+$/, "")
  return words === "" ? "each" : words
}

/** The same for the same prompt, wherever it stands. */
function nameOf(prompt: string): string {
  const words = wordsIn(prompt).slice(0, mostSlugCharacters).replace(/-+$/, "")
  const hash = createHash("sha256").update(prompt).digest("hex").slice(0, 4)
  return words === "" ? hash : `${words}-${hash}`
}

function wordsIn(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+/, "")
}
