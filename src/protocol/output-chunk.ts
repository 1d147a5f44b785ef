import type { StreamName } from "../execution/record.ts"
import type { OutputChunk } from "./methods.ts"

export type Output = {
  stream: StreamName
  /**
   * What the child wrote. Where text was asked for, it is UTF-8: no character is split, and U+FFFD
   * stands for what was none. Valid until the next piece is.
   */
  bytes: Uint8Array
  sequence: number
  /** Line ends of both streams before this piece. */
  line: number
  timeMs: number
  next: string
  endsInsideLine: boolean
  /** U+FFFD characters that stand for invalid bytes. */
  lossy: number
}

// What begins with a byte order mark was written with one.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** A piece of output as every answer and notification carries it. */
export function outputChunk(output: Output, encoding: "utf8" | "base64"): OutputChunk {
  const isText = encoding === "utf8"
  return {
    type: output.stream,
    data: isText ? decoder.decode(output.bytes) : output.bytes.toBase64(),
    ...(isText ? {} : { encoding: "base64" as const }),
    sequence: output.sequence,
    next: output.next,
    time: new Date(output.timeMs).toISOString(),
    truncated: output.endsInsideLine,
    ...(isText && output.lossy > 0 ? { lossy: output.lossy } : {}),
  }
}
