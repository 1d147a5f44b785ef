/**
 * Compares what a document shows with what came. What varies from run to run may be anything of
 * its kind; CONTRIBUTING.md lists the kinds. Everything else must be the same to the letter.
 */
export class ShownOutput {
  /** A name in the document → the one that came in its place. */
  #names = new Map<string, string>()

  /** The first line in which the two differ, in words, or null. */
  difference(shown: string[], printed: string[]): string | null {
    const missed = this.#match(trimmed(shown), trimmed(printed))
    if (missed === null) return null
    const said = `it printed:\n${printed.join("\n")}\ninstead of:\n${shown.join("\n")}`
    return `${missed}\n${said}`
  }

  /** The command with real names instead of the document's. */
  inUse(command: string): string {
    return command.replaceAll(/[a-z2-7]{3,26}/g, (word, at: number) =>
      isWholeWord(command, at, word.length) ? (this.#real(word, 8) ?? word) : word,
    )
  }

  #match(shown: string[], printed: string[]): string | null {
    const [first, ...rest] = shown
    if (first === undefined) {
      return printed[0] === undefined ? null : `not shown in the document: ${printed[0]}`
    }
    if (first.trim() === "…") return this.#matchAnywhere(rest, printed)
    const [line, ...others] = printed
    if (line === undefined) return `not printed: ${first}`
    if (!this.#takes(first, line)) return `differs: ${line}`
    return this.#match(rest, others)
  }

  #matchAnywhere(shown: string[], printed: string[]): string | null {
    const before = new Map(this.#names)
    for (let skipped = 0; skipped <= printed.length; skipped++) {
      if (this.#match(shown, printed.slice(skipped)) === null) return null
      this.#names = new Map(before)
    }
    return `not printed: ${shown[0]}`
  }

  /** Whether a line is what is shown; what stands for its names is remembered then. */
  #takes(shown: string, printed: string): boolean {
    const named: string[] = []
    const pattern = shown
      .trim()
      .split(varying)
      .map((piece, index) => (index % 2 === 0 ? fixed(piece) : this.#patternOf(piece, named)))
      .join("")
    const match = new RegExp(`^\\s*${pattern}\\s*$`, "u").exec(printed)
    if (match === null) return false
    for (const [index, name] of named.entries()) this.#names.set(name, match[index + 1] ?? "")
    return true
  }

  #patternOf(piece: string, named: string[]): string {
    const letters = /^[0-9a-f]{64}$/.test(piece) ? "[0-9a-f]" : "[a-z2-7]"
    const real = this.#real(piece, piece.length)
    if (real !== null) return RegExp.escape(real)
    if (isName(piece)) {
      named.push(piece)
      return `(${letters}{${piece.length}})`
    }
    return kinds.find(({ whole }) => whole.test(piece))?.pattern ?? fixed(piece)
  }

  /** What a name, or the beginning of one, stands for: at least so many letters of it. */
  #real(word: string, length: number): string | null {
    for (const [name, real] of this.#names) {
      if (word.length >= 3 && name.startsWith(word)) {
        return real.slice(0, Math.max(word.length, length))
      }
    }
    return null
  }
}

/** The same to the letter, but for spaces, and what `…` leaves out. */
function fixed(text: string): string {
  const parts = text.split(/(\s+|…)/).filter((part) => part !== "")
  return parts.map((part) => (part === "…" ? ".*" : spaces(part))).join("")
}

function spaces(part: string): string {
  return part.trim() === "" ? String.raw`\s+` : RegExp.escape(part)
}

/** Executions have ids of 26 letters and are shown by 8; tokens have 10; hashes are names too. */
function isName(word: string): boolean {
  if (/^[0-9a-f]{64}$/.test(word)) return true
  return /^[a-z2-7]{8}(?:[a-z2-7]{2}|[a-z2-7]{18})?$/.test(word) && /\d/.test(word.slice(0, 3))
}

function isWholeWord(text: string, at: number, length: number): boolean {
  const neighbours = `${text[at - 1] ?? " "}${text[at + length] ?? " "}`
  return !/[\w.-]/.test(neighbours)
}

/**
 * What varies: where it is found in a document, and what may come in its place. What is found by
 * what stands before it has that apart, since the piece itself is without it.
 */
const kinds = [
  kind(String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?`), // a time
  kind(String.raw`\d{4}-\d\d-\d\d`),
  kind(String.raw`\d\d:\d\d:\d\d(?:\.\d+)?`),
  kind("cce_[a-z2-7_]+"), // a token
  kind("[0-9a-f]{12}"), // a commit
  kind("[0-9a-f]{16}"), // the name of a key
  kind(String.raw`[0-9a-f]+(?:\.[0-9a-f]+){5}`), // a cursor
  kind(String.raw`\d+(?:\.\d+)? ?(?:ms|s|m|h|d)(?:\d\d[smh])?`), // a duration
  kind(String.raw`\d+(?:\.\d+)? (?:[KMGT]i?B)`), // a size
  kind(String.raw`\d+\.\d+\.\d+(?:-[\w.]+)?(?!\.\d)`), // a version, but no address
  kind(String.raw`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`), // a UUID
  kind(String.raw`\d+(?:\.\d+)?`, String.raw`(?<=_time["':=]+\s?)`), // seconds, to many places
  kind(String.raw`\d+`, String.raw`(?<=\b(?:pid|pgid|processId|gatewayPid)["':=]*\s?)`),
  kind(String.raw`\d+`, String.raw`(?<=:(?=3[3-9]|[4-6]\d))`), // a port that was free
]

type Kind = { found: string; whole: RegExp; pattern: string }

function kind(pattern: string, after = ""): Kind {
  return {
    found: after + pattern,
    whole: new RegExp(`^(?:${pattern})$`),
    pattern: `(?:${pattern})`,
  }
}

const found = [...kinds.map((one) => one.found), "[0-9a-f]{64}", "[a-z2-7]{3,26}"].join("|")
const varying = new RegExp(String.raw`(?<![\w.])(${found})(?!\w)`)

function trimmed(lines: string[]): string[] {
  return lines.slice(0, lines.findLastIndex((line) => line.trim() !== "") + 1)
}
