import { isUtf8 } from "node:buffer"
import type { StreamName } from "../../src/execution/record.ts"
import type { Completed, NotificationOf } from "../../src/protocol/notifications.ts"

/** A piece of output, whatever way it travelled. */
export type ReceivedChunk = {
  stream: StreamName
  bytes: Uint8Array
  next: string
  /** What binary frames do not carry. */
  told: { sequence: number; truncated: boolean; lossy: number; isText: boolean } | null
}

type Counted = { bytes: number; lines: number }

const lineEnd = 10
const tailBytes = 16 * 1024

/**
 * What one client has of one execution, across as many attachments as it took: hashed and counted,
 * not kept. What the protocol promises of every single chunk is checked on the way.
 */
export class ReceivedOutput {
  readonly stdout: Counted = { bytes: 0, lines: 0 }
  readonly stderr: Counted = { bytes: 0, lines: 0 }
  readonly gaps: Counted & { count: number } = { bytes: 0, lines: 0, count: 0 }
  /** The names of the notifications about its life, in their order. */
  readonly life: string[] = []
  /** Promises that a chunk broke. */
  readonly faults: string[] = []
  readonly completed: Promise<Completed>
  chunks = 0
  lossy = 0
  /** The cursor after the last chunk or gap. */
  next = "start"
  /** Called after each chunk. */
  onChunk: (chunk: ReceivedChunk) => void = () => undefined

  readonly #hashes = {
    stdout: new Bun.CryptoHasher("sha256"),
    stderr: new Bun.CryptoHasher("sha256"),
  }
  readonly #tails = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) }
  readonly #completed = Promise.withResolvers<Completed>()
  #lastSequence = -1
  #isOver = false

  constructor() {
    this.completed = this.#completed.promise
    this.completed.catch(() => undefined)
  }

  get bytes(): number {
    return this.stdout.bytes + this.stderr.bytes
  }

  get lines(): number {
    return this.stdout.lines + this.stderr.lines
  }

  /** The latest text of a stream, at most sixteen KiB of it. */
  tail(stream: StreamName): string {
    return this.#tails[stream].toString("utf8")
  }

  /** Neither stream ends inside a character: what follows can be read as text. */
  get isBetweenCharacters(): boolean {
    return endsWhole(this.#tails.stdout) && endsWhole(this.#tails.stderr)
  }

  hash(stream: StreamName): string {
    return this.#hashes[stream].copy().digest("hex")
  }

  /** A new attachment: sequences begin again, wherever it stands. */
  attached(): void {
    this.#lastSequence = -1
  }

  take(chunk: ReceivedChunk): void {
    const { stream, bytes, next } = chunk
    this.#check(chunk)
    this.#hashes[stream].update(bytes)
    this[stream].bytes += bytes.length
    this[stream].lines += countLines(bytes)
    const tail = Buffer.concat([this.#tails[stream], bytes.subarray(-tailBytes)])
    this.#tails[stream] = tail.subarray(-tailBytes)
    this.chunks += 1
    this.lossy += chunk.told?.lossy ?? 0
    this.next = next
    this.onChunk(chunk)
  }

  takeGap(gap: NotificationOf<"process.gap">): void {
    if (gap.from !== this.next && this.next !== "start") {
      this.#fault(`a gap from ${gap.from} came at ${this.next}`)
    }
    this.gaps.bytes += gap.bytes
    this.gaps.lines += gap.lines
    this.gaps.count += 1
    this.next = gap.next
  }

  takeLife(name: string): void {
    if (this.#isOver) this.#fault(`${name} came after process.completed`)
    this.life.push(name)
  }

  complete(completed: Completed): void {
    this.takeLife("process.completed")
    this.#isOver = true
    this.#completed.resolve(completed)
  }

  fail(error: Error): void {
    this.#completed.reject(error)
  }

  #check({ bytes, told }: ReceivedChunk): void {
    if (this.#isOver) this.#fault("output came after process.completed")
    if (bytes.length === 0) this.#fault("an empty chunk")
    if (told === null) return
    const { sequence, truncated, isText } = told
    if (sequence <= this.#lastSequence) {
      this.#fault(`sequence ${sequence} came after ${this.#lastSequence}`)
    }
    this.#lastSequence = sequence
    const endsInsideLine = bytes.at(-1) !== lineEnd
    if (truncated !== endsInsideLine) this.#fault(`truncated is ${truncated} at ${sequence}`)
    // Up to three bytes of a split character per stream are passed before they are delivered.
    const passed = this.bytes + this.gaps.bytes
    const isRight = isText ? sequence >= passed && sequence <= passed + 6 : sequence === passed
    if (!isRight && this.lossy === 0) this.#fault(`sequence ${sequence} after ${passed} bytes`)
  }

  #fault(what: string): void {
    if (this.faults.length < 10) this.faults.push(what)
  }
}

function countLines(bytes: Uint8Array): number {
  let count = 0
  for (let at = bytes.indexOf(lineEnd); at >= 0; at = bytes.indexOf(lineEnd, at + 1)) count += 1
  return count
}

function endsWhole(bytes: Buffer): boolean {
  const lead = bytes.findLastIndex((byte) => (byte & 0xc0) !== 0x80)
  return lead === -1 || isUtf8(bytes.subarray(lead))
}
