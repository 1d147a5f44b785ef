import type { LinePattern } from "../../lib/pattern/line-pattern.ts"
import type { SuitePattern } from "./suite.ts"

const mostPending = 262_144
/** So much of a line that has to be cut is looked at twice. */
const overlap = 8192

/**
 * Looks for patterns in what was written, line by line, however it comes in pieces. What only
 * repeats the request was said by whoever asked: it is not looked at.
 */
export class OutputSearch {
  readonly #missing: Set<SuitePattern>
  readonly #echoes: Echoes
  readonly #pending = new Map<string, string>()

  constructor(patterns: readonly SuitePattern[], request: string | null) {
    this.#missing = new Set(patterns)
    this.#echoes = echoesOf(request ?? "")
  }

  push(stream: string, text: string): void {
    const all = (this.#pending.get(stream) ?? "") + text
    const end = all.lastIndexOf("\n") + 1
    if (end > 0) this.#look(all.slice(0, end))
    let rest = all.slice(end)
    if (rest.length > mostPending) {
      this.#look(rest)
      rest = rest.slice(-overlap)
    }
    this.#pending.set(stream, rest)
  }

  /** Something is missing here: what stands before and after it is not one line. */
  cut(): void {
    for (const stream of this.#pending.keys()) this.push(stream, "\n")
  }

  /** What has not been found; nothing may be pushed any more. */
  end(): ReadonlySet<SuitePattern> {
    for (const rest of this.#pending.values()) this.#look(rest)
    this.#pending.clear()
    return this.#missing
  }

  /** Patterns of one line each, in one line or several. */
  #look(lines: string): void {
    if (this.#missing.size === 0) return
    const text = withoutEchoes(lines, this.#echoes)
    const lowered = text.toLowerCase()
    let bytes: Uint8Array | null = null
    for (const pattern of this.#missing) {
      if (pattern.kind === "regex") bytes ??= new TextEncoder().encode(text)
      const isFound = isFoundIn(pattern, { text, lowered, bytes })
      if (isFound) this.#missing.delete(pattern)
    }
  }
}

type Looked = { text: string; lowered: string; bytes: Uint8Array | null }

function isFoundIn(pattern: SuitePattern, { text, lowered, bytes }: Looked): boolean {
  switch (pattern.kind) {
    case "text":
      return lowered.includes(pattern.text.toLowerCase())
    case "executed":
      return text.includes(pattern.text)
    case "regex":
      return bytes !== null && hasLine(bytes, pattern.pattern)
  }
}

const lineFeed = 0x0a
const carriageReturn = 0x0d

function hasLine(bytes: Uint8Array, pattern: LinePattern): boolean {
  for (let from = 0; from <= bytes.length; ) {
    const found = bytes.indexOf(lineFeed, from)
    const next = found < 0 ? bytes.length : found
    const end = next > from && bytes[next - 1] === carriageReturn ? next - 1 : next
    if (pattern.matches(bytes.subarray(from, end))) return true
    from = next + 1
  }
  return false
}

/** How a request may be repeated: lines of it, whole, or within a line. */
type Echoes = { lines: ReadonlySet<string>; parts: readonly string[] }

function echoesOf(request: string): Echoes {
  const lines = request
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
  // One word is as likely an answer.
  const parts = lines.filter((line) => /\s/.test(line))
  const escaped = parts.map((part) => JSON.stringify(part).slice(1, -1))
  const ascii = escaped.map(inAscii)
  const longestFirst = [...new Set([...parts, ...escaped, ...ascii])].toSorted(
    (one, other) => other.length - one.length,
  )
  return { lines: new Set(lines), parts: longestFirst }
}

/** As some programs write JSON. */
function inAscii(text: string): string {
  const code = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
  return text.replace(/[^\0-\x7f]/g, code)
}

function withoutEchoes(text: string, { lines, parts }: Echoes): string {
  if (lines.size === 0) return text
  const kept = text.split("\n").filter((line) => !lines.has(line.trim()))
  return parts.reduce((left, part) => left.split(part).join(" "), kept.join("\n"))
}
