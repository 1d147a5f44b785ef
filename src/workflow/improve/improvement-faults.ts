import type { Prompt } from "../documents/prompt.ts"
import { filesUsed, namedFiles } from "../plan/named-files.ts"

/** Why what an agent has made of a prompt is not taken; null where it is. */
export function improvementFault(
  before: Prompt,
  after: Prompt,
  changed: readonly string[],
): string | null {
  const rewritten = changed.filter((path) => isOfChecks(before, path))
  if (rewritten.length > 0) return `it has changed what the checks use: ${rewritten.join(", ")}`
  if (after.body.trim() === "") return "it has left no text for an agent"
  if ((before.code === null) !== (after.code === null)) {
    return "it has added or removed the Implementation Code Block"
  }
  const kept = immutableSections(before)
  const now = new Set(immutableSections(after))
  const missing = kept.find((section) => !now.has(section))
  if (missing === undefined) return null
  return `it has changed what is called immutable: ${missing.split("\n")[0] ?? ""}`
}

function isOfChecks({ settings }: Prompt, path: string): boolean {
  const { checks, recovery, guards, protect } = settings
  const runs = [...[...checks, ...recovery].map(({ run }) => run), ...guards]
  const named = runs.flatMap((run) => {
    const { tests, programs } = namedFiles(run)
    return [...tests, ...programs]
  })
  const isBelow = (folder: string) => {
    const clean = folder.replace(/^(?:\.\/)+/, "").replace(/\/+$/, "")
    return path === clean || path.startsWith(`${clean}/`)
  }
  return (
    [...named, ...(protect ?? [])].some(isBelow) ||
    runs.some((run) => filesUsed(run, [path]).length > 0)
  )
}

/** Those whose heading says so, each with all that is below it. */
function immutableSections({ lines }: Prompt): string[] {
  const headings = lines.flatMap(({ kind, text }, at) => {
    const marks = kind === "prose" ? /^(#{1,6})\s/.exec(text)?.[1] : undefined
    return marks === undefined ? [] : [{ at, depth: marks.length, text }]
  })
  return headings
    .filter(({ text }) => /\(immutable\)/i.test(text))
    .map(({ at, depth }) => {
      const next = headings.find((other) => other.at > at && other.depth <= depth)
      const section = lines.slice(at, next?.at).map(({ text }) => text.trimEnd())
      return section.join("\n").trimEnd()
    })
}
