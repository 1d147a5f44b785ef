import {
  type ExecutionRecord,
  retainedBytes,
  type StreamName,
} from "../../../../execution/record.ts"
import { ok, type Result } from "../../../../lib/result.ts"
import { lineEnd } from "../../../../lib/vector/line-ends.ts"
import type { Failure } from "../../../../protocol/failure.ts"
import type { McpScope } from "../ports.ts"
import { mostReadBytes } from "./output-page.ts"

export type NewestOutput = {
  text: string
  /** Output bytes of both streams before the text, where it is of both. */
  sequence: number
  next: string
  ended: boolean
  hasMore: boolean
  /** Not all that was asked for is shown: it did not fit, or is too far back. */
  isCut: boolean
}

export type NewestWanted = {
  /** Null: as many as fit. */
  lines: number | null
  mostBytes: number
  stream: StreamName | null
}

/** Of one stream, behind how much of the other it is looked for. */
const farthestBytes = [1, 16, 64].map((mebibytes) => mebibytes * 1024 * 1024)

/** The last lines of output, and of those no more than so many bytes. */
export async function newestOutput(
  scope: McpScope,
  record: ExecutionRecord,
  wanted: NewestWanted,
): Promise<Result<NewestOutput, Failure>> {
  // A character's rest may be what comes first.
  const nearest = wanted.mostBytes + 3
  const windows = wanted.stream === null ? [nearest] : [nearest, ...farthestBytes]
  for (const [index, windowBytes] of windows.entries()) {
    const end = await readEnd(scope, record.id, windowBytes, wanted)
    if (!end.ok) return end
    const isAll = windowBytes >= retainedBytes(record.transcript)
    const shown = end.value.newest(wanted, isAll)
    const isLast = index === windows.length - 1
    if (!shown.isCut || end.value.isFull || isAll || isLast) return ok(shown)
  }
  throw new Error("there is no end to look at")
}

async function readEnd(
  { operations, caller }: McpScope,
  executionId: string,
  windowBytes: number,
  wanted: NewestWanted,
): Promise<Result<OutputEnd, Failure>> {
  const end = new OutputEnd(wanted.mostBytes)
  // What is written meanwhile may be more than can ever be read.
  const mostPages = Math.ceil(windowBytes / mostReadBytes) + 8
  let from = `tail-bytes:${windowBytes}`
  for (let pages = 1; pages <= mostPages; pages++) {
    const request = { executionId, from, form: "bytes", limitBytes: mostReadBytes } as const
    const read = await operations.readOutput(caller, request, ({ stream, bytes }) => {
      if (stream === (wanted.stream ?? stream)) end.add(stream, bytes.slice())
    })
    if (!read.ok) return read
    const { next, ended, more: hasMore, sequence } = read.value
    end.reach({ next, ended, hasMore, sequence })
    if (!hasMore) break
    from = next
  }
  return ok(end)
}

/** How far was read. */
type Reached = Pick<NewestOutput, "next" | "ended" | "hasMore" | "sequence">

/** The last bytes that came by, no more than may be shown. */
class OutputEnd {
  readonly #mostBytes: number
  readonly #bits: { stream: StreamName; bytes: Uint8Array }[] = []
  #length = 0
  #hasDropped = false
  #reached: Reached = { next: "", ended: false, hasMore: false, sequence: 0 }

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  get isFull(): boolean {
    return this.#length >= this.#mostBytes
  }

  reach(reached: Reached): void {
    this.#reached = reached
  }

  add(stream: StreamName, bytes: Uint8Array): void {
    this.#bits.push({ stream, bytes })
    this.#length += bytes.length
    for (;;) {
      const first = this.#bits[0]?.bytes.length ?? 0
      if (this.#bits.length <= 1 || this.#length - first < this.#mostBytes) return
      this.#length -= first
      this.#bits.shift()
      this.#hasDropped = true
    }
  }

  newest({ lines, mostBytes }: NewestWanted, isAll: boolean): NewestOutput {
    const wanted = lines === null ? this.#length : this.#bytesOfLines(lines)
    const surplus = Math.max(0, this.#length - mostBytes)
    const texts = new StreamTexts()
    let skipped = Math.max(surplus, this.#length - (wanted ?? this.#length))
    const mayBeInside = wanted === null || (surplus > 0 && skipped === surplus)
    let shown = 0
    for (const { stream, bytes } of this.#bits) {
      let from = Math.min(skipped, bytes.length)
      skipped -= from
      if (shown === 0 && mayBeInside) from += startOfWholeText(bytes.subarray(from))
      shown += bytes.length - from
      texts.add(stream, bytes.subarray(from))
    }
    const isCut = wanted === null ? !isAll || surplus > 0 || this.#hasDropped : shown < wanted
    const sequence = this.#reached.sequence - shown
    return { ...this.#reached, text: texts.text(), sequence, isCut }
  }

  /** How many bytes the last so many lines are; null when there are fewer here. */
  #bytesOfLines(lines: number): number | null {
    let left = lines
    let length = 0
    for (const { bytes } of this.#bits.toReversed()) {
      for (let at = bytes.length - 1; at >= 0; at--) {
        // The end of the last line separates it from nothing.
        if (bytes[at] === lineEnd && length > 0) left -= 1
        if (left === 0) return length
        length += 1
      }
    }
    return null
  }
}

/** Where the first whole character begins, in bytes that may begin inside one. */
function startOfWholeText(bytes: Uint8Array): number {
  let start = 0
  while (start < Math.min(3, bytes.length) && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1
  return start
}

/** Makes one text of the bytes of both streams: a character may be split by the other stream's. */
class StreamTexts {
  readonly #decoders: Record<StreamName, TextDecoder> = {
    stdout: new TextDecoder("utf-8", { ignoreBOM: true }),
    stderr: new TextDecoder("utf-8", { ignoreBOM: true }),
  }
  readonly #parts: string[] = []

  add(stream: StreamName, bytes: Uint8Array): void {
    this.#parts.push(this.#decoders[stream].decode(bytes, { stream: true }))
  }

  /** All of it; what is not complete by now never will be. */
  text(): string {
    const { stdout, stderr } = this.#decoders
    return this.#parts.join("") + stdout.decode() + stderr.decode()
  }
}
