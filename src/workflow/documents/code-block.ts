import type { WorkText } from "./document.ts"

/** Offsets of what stands between the fences. */
export type CodeBlock = { start: number; end: number; text: string }

/** The first fenced block below the heading that announces it; a missing one is null. */
export function implementationBlock({ text, lines }: WorkText): CodeBlock | null {
  const heading = lines.findIndex(
    (line) => line.kind === "prose" && /^#{1,6}\s.*Implementation Code Block/i.test(line.text),
  )
  if (heading < 0) return null
  const below = lines.slice(heading + 1)
  const opening = below.findIndex(({ kind }) => kind === "code")
  const next = below.findIndex(({ kind, text: words }) => kind === "prose" && words.startsWith("#"))
  if (opening < 0 || (next >= 0 && next < opening)) return null
  const start = below[opening]?.next ?? text.length
  const after = below.findIndex(({ kind }, at) => at > opening && kind !== "code")
  const block = below.slice(opening + 1, after < 0 ? undefined : after)
  const last = block.at(-1)
  const isClosed = last !== undefined && /^\s*(`{3,}|~{3,})\s*$/.test(last.text)
  const end = isClosed ? last.start : (last?.next ?? start)
  return { start, end, text: text.slice(start, end) }
}
