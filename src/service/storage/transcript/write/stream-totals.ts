import type { Count, StreamName, TranscriptHashes } from "../../../../execution/record.ts"
import type { SegmentHeader } from "../format.ts"

type Total = Count & { readonly hasher: Bun.CryptoHasher | null }

/** What was recorded of each stream: how much, and its plain hash. */
export class StreamTotals {
  readonly #stdout: Total
  readonly #stderr: Total

  constructor(before: { stdout: Total; stderr: Total } = { stdout: nothing(), stderr: nothing() }) {
    this.#stdout = before.stdout
    this.#stderr = before.stderr
  }

  get sequence(): number {
    return this.#stdout.bytes + this.#stderr.bytes
  }

  get lines(): number {
    return this.#stdout.lines + this.#stderr.lines
  }

  /** Those of all transcripts count the same. */
  add(
    stream: StreamName,
    bytes: Uint8Array,
    lines: number,
    ofAll: Record<StreamName, Count>,
  ): void {
    const total = stream === "stdout" ? this.#stdout : this.#stderr
    addTo(total, bytes.length, lines)
    addTo(ofAll[stream], bytes.length, lines)
    total.hasher?.update(bytes)
  }

  counts(): Record<StreamName, Count> {
    return {
      stdout: { bytes: this.#stdout.bytes, lines: this.#stdout.lines },
      stderr: { bytes: this.#stderr.bytes, lines: this.#stderr.lines },
    }
  }

  /** What the header of a segment says that begins here. */
  startOf(number: number): SegmentHeader {
    const { sequence, lines } = this
    return { number, startsAnew: false, sequence, lines, ...this.counts() }
  }

  hashes(): Omit<TranscriptHashes, "chain"> {
    return {
      stdout: this.#stdout.hasher?.copy().digest("hex") ?? null,
      stderr: this.#stderr.hasher?.copy().digest("hex") ?? null,
    }
  }
}

function nothing(): Total {
  return { bytes: 0, lines: 0, hasher: new Bun.CryptoHasher("sha256") }
}

export function addTo(count: Count, bytes: number, lines: number): void {
  count.bytes += bytes
  count.lines += lines
}
