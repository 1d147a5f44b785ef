import { JsonScanner } from "../../lib/json-scanner.ts"
import { field } from "./claude-messages.ts"
import { type Counted, CountedJson } from "./counted-json.ts"

export type EventHead = { n: number; at: string }

type Heard = (event: string, value: Counted, head: EventHead) => void

/** What every line begins with, and how a part of a long message goes on. */
const headPattern =
  /^\{"v":1,"n":(\d+),"at":"([^"]+)","event":"([a-z-]+)"(?:,"part":(\d+),"last":(true|false),)?/
const headCharacters = 256
/** Those that say something of their own; others repeat it, or tell how the session stands. */
const wanted: ReadonlySet<string> = new Set(["message", "turn", "question", "answer"])
/** Partial events repeat what comes as a whole; the rest are not words of anybody. */
const unwantedMessage =
  /"event":"message","message":\{"type":"(?:stream_event|tool_progress|system)"/

type Reader = { push(text: string): void; end(): void }

/** Takes the events of a session's log apart, as they come, with a bound on what is held. */
export class SessionLines {
  /** Lines and messages that could not be read. */
  unread = 0
  readonly #sought: string
  readonly #heard: Heard
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  #head = ""
  #reader: Reader | null = null
  #long: { json: CountedJson; nextPart: number } | null = null

  constructor(sought: string, isCut: boolean, heard: Heard) {
    this.#sought = sought
    this.#heard = heard
    // The end of a line whose beginning is gone could be taken for a line of its own.
    if (isCut) this.#reader = ignored
  }

  push(bytes: Uint8Array): void {
    const text = this.#decoder.decode(bytes, { stream: true })
    let from = 0
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
      this.#take(text.slice(from, end))
      this.#endLine()
      from = end + 1
    }
    this.#take(text.slice(from))
  }

  #take(text: string): void {
    if (this.#reader !== null) {
      this.#reader.push(text)
      return
    }
    this.#head += text
    if (this.#head.length >= headCharacters) this.#begin()
  }

  #begin(): void {
    const head = this.#head
    this.#head = ""
    this.#reader = this.#readerFor(head)
    this.#reader.push(head)
  }

  #endLine(): void {
    if (this.#reader === null) this.#begin()
    const reader = this.#reader
    this.#reader = null
    reader?.end()
  }

  #readerFor(beginning: string): Reader {
    const [, n = "", at = "", event = "", part, last] = headPattern.exec(beginning) ?? []
    if (event === "") {
      this.unread += 1
      return ignored
    }
    if (!wanted.has(event) || unwantedMessage.test(beginning)) return ignored
    const head = { n: Number(n), at }
    if (part !== undefined) return this.#partReader(Number(part), last === "true", head)
    return this.#wholeReader(event, head)
  }

  #wholeReader(event: string, head: EventHead): Reader {
    const json = new CountedJson(this.#sought)
    return {
      push: (text) => json.push(text),
      end: () => {
        const value = json.end()
        const said = event === "message" ? field(value ?? undefined, "message") : value
        if (value === null) this.unread += 1
        else if (said) this.#heard(event, said, head)
      },
    }
  }

  #partReader(part: number, isLast: boolean, head: EventHead): Reader {
    if (part === 0) this.#long = { json: new CountedJson(this.#sought), nextPart: 0 }
    const long = this.#long
    if (long?.nextPart !== part) {
      this.#long = null
      if (isLast) this.unread += 1
      return ignored
    }
    long.nextPart += 1
    const line = textOfPart((text) => long.json.push(text))
    return {
      push: (text) => line.push(text),
      end: () => {
        if (!line.end()) this.#long = null
        if (!isLast) return
        const value = this.#long?.json.end() ?? null
        this.#long = null
        if (value === null) this.unread += 1
        else this.#heard("message", value, head)
      },
    }
  }
}

const ignored: Reader = { push: () => undefined, end: () => undefined }

/** Passes on the field `text` of an event. */
function textOfPart(take: (text: string) => void): JsonScanner {
  let key = ""
  return new JsonScanner({
    open: () => undefined,
    close: () => undefined,
    key: (name) => {
      key = name
    },
    text: (piece) => {
      if (key === "text") take(piece)
    },
    scalar: () => undefined,
  })
}
