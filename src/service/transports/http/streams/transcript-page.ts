import type { ParsedParamsOf, ResultOf } from "../../../../protocol/methods.ts"
import type { Answer } from "../../../gateway/ports.ts"
import { encoded, type Pieces } from "./pulled-body.ts"

type Params = ParsedParamsOf<"transcript.read">
type Page = ResultOf<"transcript.read">

/** Of a page that may be 8 MiB long, what is in memory while its reader takes its time. */
export const partBytes = 64 * 1024

/** A long page of a transcript as JSON, read part by part as it is taken. */
export class TranscriptPage implements Pieces {
  readonly #params: Params
  readonly #read: (params: Params) => Answer<Page>
  readonly #first: Page
  #last: Page | null = null
  #taken = 0
  #isOver = false

  constructor(first: Page, params: Params, read: (params: Params) => Answer<Page>) {
    this.#first = first
    this.#params = params
    this.#read = read
  }

  async next(): Promise<Uint8Array | null> {
    if (this.#isOver) return null
    const before = this.#last
    const part = before === null ? this.#first : await this.#partAfter(before)
    if (part === null) return this.#closing()
    this.#last = part
    this.#taken += bytesIn(part)
    const chunks = part.chunks.map((chunk) => JSON.stringify(chunk)).join(",")
    return encoded(`${before === null ? '{"chunks":[' : ","}${chunks}`)
  }

  [Symbol.dispose](): void {
    this.#isOver = true
  }

  /** Null when the page is full, or when there is nothing to add to it. */
  async #partAfter(before: Page): Promise<Page | null> {
    const left = this.#params.limit_bytes - this.#taken
    if (before.ended || left <= 0) return null
    const limit_bytes = Math.min(partBytes, left)
    const read = await this.#read({ ...this.#params, from: before.next, limit_bytes })
    if (!read.ok) throw new Error(read.failure.message)
    // A gap is told in the page it stands in front of, and this one has begun.
    return read.value.gap !== undefined || read.value.chunks.length === 0 ? null : read.value
  }

  #closing(): Uint8Array {
    this.#isOver = true
    const { next, ended } = this.#last ?? this.#first
    const { gap } = this.#first
    const rest = JSON.stringify({ next, ended, ...(gap === undefined ? {} : { gap }) })
    return encoded(`],${rest.slice(1)}`)
  }
}

/** What a page counts against its limit. */
export function bytesIn({ chunks }: Page): number {
  const sizes = chunks.map(({ data, encoding }) => Buffer.byteLength(data, encoding ?? "utf8"))
  return sizes.reduce((sum, size) => sum + size, 0)
}
