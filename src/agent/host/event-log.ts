/** One JSON object a line: what happens in a session, in order, as its transcript keeps it. */
export class EventLog {
  readonly #write: (bytes: Uint8Array) => void
  readonly #now: () => Date
  #number = 0
  #writtenBytes = 0

  constructor(write: (bytes: Uint8Array) => void, now: () => Date) {
    this.#write = write
    this.#now = now
  }

  /** Bytes so far: whoever is told a number of them knows that everything before is there. */
  get writtenBytes(): number {
    return this.#writtenBytes
  }

  /** Answers how long the line is. */
  add(event: string, facts: object): number {
    const text = JSON.stringify(facts)
    return this.#line(event, text === "{}" ? "" : `,${text.slice(1, -1)}`)
  }

  /** A message of the agent, to the byte as it said it; `json` must be whole JSON on one line. */
  addMessage(json: string): number {
    return this.#line("message", `,"message":${json}`)
  }

  #line(event: string, rest: string): number {
    this.#number += 1
    const at = this.#now().toISOString()
    const head = `{"v":1,"n":${this.#number},"at":"${at}","event":"${event}"`
    const bytes = Buffer.from(`${head}${rest}}\n`, "utf8")
    this.#write(bytes)
    this.#writtenBytes += bytes.length
    return bytes.length
  }
}
