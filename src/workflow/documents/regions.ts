import { fail, ok, type Result } from "../../lib/result.ts"
import type { DocumentFault } from "./fault.ts"
import type { MarkedLine } from "./prose.ts"

/** What we have rendered: from the line of its first marker to the end of the line of its last. */
export type Region = {
  name: string // what stands in it, such as `metrics`
  attributes: ReadonlyMap<string, string>
  start: number
  end: number
  firstLine: number
  lastLine: number
}

/** A marker is a line of its own. */
const beginForm = /^[ \t]*<!-- cc-executor:begin(?: ([^>]*?))? -->[ \t]*$/
const endForm = /^[ \t]*<!-- cc-executor:end -->[ \t]*$/

export function regionsIn(lines: readonly MarkedLine[]): Result<Region[], DocumentFault> {
  const regions: Region[] = []
  let open: { line: MarkedLine; words: string } | null = null
  for (const line of lines) {
    if (line.kind !== "prose") continue
    const begin = beginForm.exec(line.text)
    if (begin !== null) {
      if (open !== null) return fail(notClosed(open.line))
      open = { line, words: begin[1] ?? "" }
    } else if (endForm.test(line.text)) {
      if (open === null) return fail({ line: line.number, reason: "nothing of ours begins before" })
      regions.push(regionOf(open.line, open.words, line))
      open = null
    }
  }
  return open === null ? ok(regions) : fail(notClosed(open.line))
}

function notClosed({ number }: MarkedLine): DocumentFault {
  const reason = "what begins here has no `<!-- cc-executor:end -->`: write one, or remove this"
  return { line: number, reason }
}

function regionOf(first: MarkedLine, words: string, last: MarkedLine): Region {
  const [name = "", ...rest] = words.split(/\s+/)
  const pairs = rest.flatMap((word): [string, string][] => {
    const at = word.indexOf("=")
    return at < 1 ? [] : [[word.slice(0, at), word.slice(at + 1)]]
  })
  return {
    name,
    attributes: new Map(pairs),
    start: first.start,
    end: last.next,
    firstLine: first.number,
    lastLine: last.number,
  }
}
