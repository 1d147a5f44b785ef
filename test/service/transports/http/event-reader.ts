export type ReceivedEvent = { event: string; id: string | null; data: unknown }

/** Reads server-sent events one at a time, so that a test can do something in between. */
export class EventReader {
  readonly #read: () => Promise<{ done: boolean; value?: Uint8Array | undefined }>
  readonly cancel: () => Promise<void>
  #text = ""

  constructor(response: Response) {
    if (response.body === null) throw new Error("the response has no body")
    const reader = response.body.getReader()
    this.#read = () => reader.read()
    this.cancel = () => reader.cancel()
  }

  /** The next block, comment or event, as it stands; null at the end. */
  async block(): Promise<string | null> {
    while (!this.#text.includes("\n\n")) {
      const { done, value } = await this.#read()
      if (done) return null
      this.#text += new TextDecoder().decode(value)
    }
    const end = this.#text.indexOf("\n\n")
    const block = this.#text.slice(0, end)
    this.#text = this.#text.slice(end + 2)
    return block
  }

  async next(): Promise<ReceivedEvent | null> {
    const block = await this.block()
    if (block === null) return null
    const fields = new Map(
      block.split("\n").map((line) => {
        const colon = line.indexOf(": ")
        return [line.slice(0, colon), line.slice(colon + 2)] as const
      }),
    )
    const event = fields.get("event")
    if (event === undefined) return this.next()
    return { event, id: fields.get("id") ?? null, data: JSON.parse(fields.get("data") ?? "") }
  }

  async rest(): Promise<ReceivedEvent[]> {
    const events: ReceivedEvent[] = []
    for (let event = await this.next(); event !== null; event = await this.next()) {
      events.push(event)
    }
    return events
  }
}
