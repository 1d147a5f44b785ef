/** Where in a YAML text something stands; lines and columns are counted from 1. */
export type Place = { line: number; column: number }

type Entry = (Place & { kind: "item" }) | (Place & { kind: "key"; key: string })

/**
 * The place of what a path leads to, or of as much of it as is written one entry a line: the
 * runtime's parser tells no places.
 */
export function placeOf(text: string, path: readonly PropertyKey[]): Place {
  const entries = entriesOf(text)
  let place: Place = { line: 1, column: 1 }
  let from = 0
  let parent: Entry | null = null
  for (const step of path) {
    const found = childOf(entries, from, parent, step)
    if (found === -1) break
    parent = entries[found] ?? null
    if (parent !== null) place = { line: parent.line, column: parent.column }
    from = found + 1
  }
  return place
}

/** An index, or -1. */
function childOf(
  entries: readonly Entry[],
  from: number,
  parent: Entry | null,
  step: PropertyKey,
): number {
  let column: number | null = null
  let items = 0
  for (let index = from; index < entries.length; index += 1) {
    const entry = entries[index]
    if (entry === undefined || !isBelow(entry, parent)) return -1
    column ??= entry.column
    if (entry.column !== column) continue
    if (entry.kind === "key" ? entry.key === step : items === step) return index
    if (entry.kind === "item") items += 1
  }
  return -1
}

/** The items of a key may stand in the same column as the key itself. */
function isBelow(entry: Entry, parent: Entry | null): boolean {
  if (parent === null || entry.column > parent.column) return true
  return entry.column === parent.column && entry.kind === "item" && parent.kind === "key"
}

const keyForm = /^("[^"]*"|'[^']*'|[^\s#"'[{-][^#]*?)\s*:(?:\s|$)/

function entriesOf(text: string): Entry[] {
  return text.split("\n").flatMap((content, index) => {
    const line = index + 1
    const found: Entry[] = []
    let column = content.search(/\S/) + 1
    for (let rest = content.trimStart(); column > 0 && rest !== ""; ) {
      const dash = /^-(?: +|$)/.exec(rest)
      if (dash === null) {
        const key = keyForm.exec(rest)?.[1]?.replace(/^["']|["']$/g, "")
        if (key !== undefined) found.push({ kind: "key", key, line, column })
        break
      }
      found.push({ kind: "item", line, column })
      column += dash[0].length
      rest = rest.slice(dash[0].length)
    }
    return found
  })
}

/** Of two equal keys, the second: the parser takes the last, and the first is gone silently. */
export function repeatedKey(text: string): (Place & { key: string }) | null {
  const open: { column: number; keys: Set<string> }[] = []
  for (const entry of entriesOf(text)) {
    const isItem = entry.kind === "item"
    while ((open.at(-1)?.column ?? -1) > entry.column) open.pop()
    if (isItem) continue
    if (open.at(-1)?.column !== entry.column) open.push({ column: entry.column, keys: new Set() })
    const keys = open.at(-1)?.keys
    if (keys?.has(entry.key) === true) return entry
    keys?.add(entry.key)
  }
  return null
}

/** The line after the longest beginning that can be parsed: there, something begins that cannot. */
export function brokenLine(text: string, isSound: (part: string) => boolean): Place {
  const lines = text.split("\n")
  let line = lines.length
  while (line > 1 && !isSound(lines.slice(0, line - 1).join("\n"))) line -= 1
  while (line < lines.length && (lines[line - 1] ?? "").trim() === "") line += 1
  return { line, column: Math.max(1, (lines[line - 1] ?? "").search(/\S/) + 1) }
}
