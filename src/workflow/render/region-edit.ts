import type { WorkText } from "../documents/document.ts"
import { lineEndOf } from "../documents/lines.ts"
import type { Region } from "../documents/regions.ts"
import type { Edit } from "./edit.ts"

export const endMarker = "<!-- cc-executor:end -->"

export function beginMarker(name: string, attributes: Record<string, string> = {}): string {
  const pairs = Object.entries(attributes).map(([key, value]) => ` ${key}=${value}`)
  return `<!-- cc-executor:begin ${name}${pairs.join("")} -->`
}

/** What stands between the markers of every region of a name; the markers stay as they are. */
export function regionEdits(
  work: WorkText,
  name: string,
  linesOf: (region: Region) => string[],
): Edit[] {
  const regions = work.regions.filter((region) => region.name === name)
  return regions.flatMap((region): Edit[] => {
    const { start, end, indent } = innerOf(work, region)
    const lineEnd = lineEndOf(work.text)
    const text = linesOf(region)
      .map((line) => (line === "" ? lineEnd : indent + line + lineEnd))
      .join("")
    return text === work.text.slice(start, end) ? [] : [{ start, end, text }]
  })
}

function innerOf({ lines }: WorkText, { firstLine, lastLine }: Region) {
  const first = lines[firstLine - 1]
  const last = lines[lastLine - 1]
  const indent = /^[ \t]*/.exec(first?.text ?? "")?.[0] ?? ""
  return { start: first?.next ?? 0, end: last?.start ?? 0, indent }
}
