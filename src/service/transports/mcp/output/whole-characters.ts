import type { StreamName } from "../../../../execution/record.ts"

/** Where the first whole character begins, in bytes that may begin inside one. */
export function startOfWholeText(bytes: Uint8Array): number {
  let start = 0
  while (start < Math.min(3, bytes.length) && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1
  return start
}

/** Makes one text of the bytes of both streams: a character may be split by the other stream's. */
export class StreamTexts {
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
