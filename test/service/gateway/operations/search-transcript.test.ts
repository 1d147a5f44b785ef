import { describe, expect, test } from "bun:test"
import { searchTranscript } from "../../../../src/service/gateway/operations/search-transcript.ts"
import type { FeedEvent } from "../../../../src/service/gateway/ports.ts"

/** Pieces, each of which takes longer to read than one request may look for. */
class SlowPieces {
  readonly #pieces: string[]
  readonly #slowMs: number
  #sequence = 0
  #nowMs = 0

  constructor(pieces: string[], slowMs: number) {
    this.#pieces = pieces
    this.#slowMs = slowMs
  }

  next(): FeedEvent | null {
    const text = this.#pieces.shift()
    if (text === undefined) return null
    this.#nowMs += this.#slowMs
    const sequence = this.#sequence
    this.#sequence += text.length
    const bytes = new TextEncoder().encode(text)
    const place = { stream: "stdout", sequence, line: 0, timeMs: 0, next: "" } as const
    return { kind: "output", ...place, bytes, lossy: 0, endsInsideLine: true }
  }

  readonly nowMs = () => this.#nowMs

  passedBytes(): number {
    return this.#sequence
  }

  cursor(): string {
    return `cursor:${this.#sequence}`
  }
}

function search(pieces: string[], slowMs: number) {
  const feed = new SlowPieces(pieces, slowMs)
  const params = { text: "needle", ignore_case: false, limit: 10 }
  return searchTranscript(feed, params, feed.nowMs)
}

describe("a search that has looked for long enough", () => {
  test("goes on to the end of a line: a match may lie across two pieces", async () => {
    const found = await search(["xxxnee", "dle xxx\n", "needle\n"], 200)

    expect(found).toMatchObject({
      value: { matches: [{ sequence: 3 }], next: "cursor:14", complete: false },
    })
  })

  test("goes on before the end of what there was of a line that does not end", async () => {
    const found = await search(["xxxxxxxxxx", "xxxxxxxnee", "dle"], 350)

    expect(found).toMatchObject({ value: { matches: [], next: "at:15", complete: false } })
  })

  test("goes on where it is after a line", async () => {
    const found = await search(["xxx\n", "needle\n"], 200)

    expect(found).toMatchObject({ value: { matches: [], next: "cursor:4" } })
  })
})
