export type ServerEvent = { data: string; id: string | null; retryMs: number | null }

/** Reads server-sent events from chunks of bytes. */
export class EventReader {
  readonly #most: number
  /** Pieces of an unfinished line, joined only once. */
  #pieces: string[] = []
  #data: string[] = []
  #length = 0
  #id: string | null = null
  #retryMs: number | null = null
  readonly #decoder = new TextDecoder()

  /** `most` characters may be in one event. */
  constructor(most: number) {
    this.#most = most
  }

  /** Null when an event is too large: nothing more can be read then. */
  take(chunk: Uint8Array): ServerEvent[] | null {
    const piece = this.#decoder.decode(chunk, { stream: true })
    this.#length += piece.length
    this.#pieces.push(piece)
    if (this.#length > this.#most) return null
    if (!/[\r\n]/.test(piece)) return []
    const lines = this.#pieces.join("").split(/\r\n|\n|\r(?!$)/)
    this.#pieces = [lines.pop() ?? ""]
    const events: ServerEvent[] = []
    for (const line of lines) {
      const event = this.#line(line)
      if (event !== null) events.push(event)
    }
    return events
  }

  /** Whether an event has begun and not ended. */
  get isInside(): boolean {
    return this.#data.length > 0 || this.#pieces.some((piece) => piece !== "")
  }

  #line(line: string): ServerEvent | null {
    if (line === "") return this.#end()
    const [, field, value = ""] = /^([^:]*)(?:: ?([\s\S]*))?$/.exec(line) ?? []
    if (field === "data") this.#data.push(value)
    if (field === "id") this.#id = value
    if (field === "retry" && /^\d{1,9}$/.test(value)) this.#retryMs = Number(value)
    return null
  }

  #end(): ServerEvent | null {
    const event = { data: this.#data.join("\n"), id: this.#id, retryMs: this.#retryMs }
    const isEmpty = event.data === "" && event.id === null && event.retryMs === null
    this.#data = []
    this.#length = 0 // the rest of this chunk is not counted: it is small
    this.#id = null
    this.#retryMs = null
    return isEmpty ? null : event
  }
}
