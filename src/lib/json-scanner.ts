/** What a scanner finds, in the order it stands there. */
export interface JsonEvents {
  open(kind: "object" | "list"): void
  close(): void
  /** Cut after `mostKeyCharacters`. */
  key(name: string): void
  /** A part of a string, decoded; the last one may be empty. */
  text(piece: string, isLast: boolean): void
  /** A number, true, false or null, as it is written. */
  scalar(written: string): void
}

type Expected = "value" | "value-or-end" | "key" | "key-or-end" | "colon" | "comma-or-end" | "end"

const mostDepth = 256
const mostKeyCharacters = 1000
const mostScalarCharacters = 100
const scalarPattern = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)$/

/**
 * Reads one JSON value that comes in pieces, and holds none of it: for what is too large to be
 * parsed as a whole.
 */
export class JsonScanner {
  readonly #events: JsonEvents
  readonly #open: ("object" | "list")[] = []
  #expected: Expected = "value"
  #isBroken = false
  #text = ""
  #at = 0
  #string: "none" | "key" | "value" = "none"
  #key = ""
  #scalar = ""
  /** The beginning of an escape sequence that a piece ended in. */
  #unfinished = ""

  constructor(events: JsonEvents) {
    this.#events = events
  }

  push(text: string): void {
    this.#text = this.#unfinished + text
    this.#unfinished = ""
    this.#at = 0
    while (this.#at < this.#text.length && !this.#isBroken) {
      if (this.#string === "none") this.#readMark()
      else this.#readString()
    }
    this.#text = ""
  }

  /** Whether it was one whole JSON value. */
  end(): boolean {
    this.#endScalar()
    return !this.#isBroken && this.#string === "none" && this.#expected === "end"
  }

  #readString(): void {
    const from = this.#at
    const { end, isClosed } = this.#endOfString()
    const piece = decoded(this.#text.slice(from, end))
    this.#at = isClosed ? end + 1 : this.#text.length
    if (!isClosed) this.#unfinished = this.#text.slice(end)
    if (piece === null) this.#isBroken = true
    else if (this.#string === "key") this.#addToKey(piece, isClosed)
    else this.#events.text(piece, isClosed)
    if (isClosed) this.#string = "none"
  }

  /** The closing quote; or, where it is not here yet, where the last whole character ends. */
  #endOfString(): { end: number; isClosed: boolean } {
    const text = this.#text
    const from = this.#at
    let quote = text.indexOf('"', from)
    while (quote !== -1 && isEscaped(text, quote, from)) quote = text.indexOf('"', quote + 1)
    if (quote !== -1) return { end: quote, isClosed: true }
    const last = text.lastIndexOf("\\")
    const isWhole = last < from || isEscaped(text, last, from)
    const escapeLength = text[last + 1] === "u" ? 6 : 2
    const end = isWhole || last + escapeLength <= text.length ? text.length : last
    return { end, isClosed: false }
  }

  #addToKey(piece: string, isClosed: boolean): void {
    this.#key = (this.#key + piece).slice(0, mostKeyCharacters)
    if (!isClosed) return
    this.#events.key(this.#key)
    this.#key = ""
    this.#expected = "colon"
  }

  #readMark(): void {
    const mark = this.#text[this.#at] ?? ""
    if (/[-+.\w]/.test(mark)) {
      this.#addToScalar()
      return
    }
    this.#endScalar()
    this.#at += 1
    if (mark === " " || mark === "\n" || mark === "\r" || mark === "\t") return
    if (!this.#take(mark)) this.#isBroken = true
  }

  /** Whether the mark may stand here. */
  #take(mark: string): boolean {
    const expected = this.#expected
    const mayBeValue = expected === "value" || expected === "value-or-end"
    const mayBeKey = expected === "key" || expected === "key-or-end"
    switch (mark) {
      case "{":
        return mayBeValue && this.#opened("object")
      case "[":
        return mayBeValue && this.#opened("list")
      case "}":
        return this.#closed("object", expected === "key-or-end")
      case "]":
        return this.#closed("list", expected === "value-or-end")
      case ":":
        this.#expected = "value"
        return expected === "colon"
      case ",":
        this.#expected = this.#open.at(-1) === "object" ? "key" : "value"
        return expected === "comma-or-end"
      case '"':
        this.#string = mayBeKey ? "key" : "value"
        if (mayBeValue) this.#valueOver()
        return mayBeKey || mayBeValue
      default:
        return false
    }
  }

  #opened(kind: "object" | "list"): boolean {
    this.#open.push(kind)
    this.#expected = kind === "object" ? "key-or-end" : "value-or-end"
    this.#events.open(kind)
    return this.#open.length <= mostDepth
  }

  #closed(kind: "object" | "list", isEmpty: boolean): boolean {
    if (this.#open.pop() !== kind) return false
    if (!isEmpty && this.#expected !== "comma-or-end") return false
    this.#valueOver()
    this.#events.close()
    return true
  }

  #valueOver(): void {
    this.#expected = this.#open.length === 0 ? "end" : "comma-or-end"
  }

  #addToScalar(): void {
    const rest = /[-+.\w]*/y
    rest.lastIndex = this.#at
    const [more = ""] = rest.exec(this.#text) ?? []
    this.#scalar += more
    this.#at += more.length
    if (this.#scalar.length > mostScalarCharacters) this.#isBroken = true
  }

  #endScalar(): void {
    if (this.#scalar === "") return
    const written = this.#scalar
    this.#scalar = ""
    const mayBeHere = this.#expected === "value" || this.#expected === "value-or-end"
    if (!mayBeHere || !scalarPattern.test(written)) {
      this.#isBroken = true
      return
    }
    this.#valueOver()
    this.#events.scalar(written)
  }
}

/** A backslash, and what comes before the space. */
const neverAsIs = /[^ -[\]-\uffff]/

/** Whether a backslash that counts stands before a character of a string that begins at `from`. */
function isEscaped(text: string, at: number, from: number): boolean {
  let before = at
  while (before > from && text[before - 1] === "\\") before -= 1
  return (at - before) % 2 === 1
}

/** Null for what JSON does not allow in a string. */
function decoded(written: string): string | null {
  if (!neverAsIs.test(written)) return written
  try {
    return String(JSON.parse(`"${written}"`))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return null
  }
}
