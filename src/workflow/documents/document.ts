import { ok, type Result } from "../../lib/result.ts"
import type { DocumentFault } from "./fault.ts"
import { noSettings, readFrontMatter, type WorkSettings } from "./front-matter.ts"
import { linesOf } from "./lines.ts"
import { frontMatterEnd, type MarkedLine, markLines } from "./prose.ts"
import { type Region, regionsIn } from "./regions.ts"

/** What every work in Markdown has. */
export type WorkText = {
  text: string
  lines: MarkedLine[]
  regions: Region[] // ours, in order
  isBound: boolean // whether it has front matter
  settings: WorkSettings
}

export function readWorkText(text: string): Result<WorkText, DocumentFault> {
  const plain = linesOf(text)
  const lines = markLines(plain)
  const regions = regionsIn(lines)
  if (!regions.ok) return regions
  const last = frontMatterEnd(plain)
  const work = { text, lines, regions: regions.value, isBound: last > 0 }
  if (last === 0) return ok({ ...work, settings: noSettings })
  const inner = plain.slice(1, last - 1).map((line) => line.text)
  const settings = readFrontMatter(inner.join("\n"), 2)
  return settings.ok ? ok({ ...work, settings: settings.value }) : settings
}

/** The lines that are not ours. */
export function ownLines({ lines, regions }: WorkText): MarkedLine[] {
  return lines.filter(
    ({ start }) => !regions.some((region) => start >= region.start && start < region.end),
  )
}
