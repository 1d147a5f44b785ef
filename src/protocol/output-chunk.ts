import type { StreamName } from "../execution/record.ts"
import type { OutputChunk } from "./methods.ts"

export type Output = {
  stream: StreamName
  /** What was decoded, where text was asked for. */
  text: string
  /** The exact bytes, where bytes were asked for; valid until the next piece is. */
  bytes: Uint8Array
  sequence: number
  timeMs: number
  next: string
  endsInsideLine: boolean
  /** U+FFFD characters in `text` that stand for invalid bytes. */
  lossy: number
}

/** A piece of output as every answer and notification carries it. */
export function outputChunk(output: Output, encoding: "utf8" | "base64"): OutputChunk {
  const isText = encoding === "utf8"
  return {
    type: output.stream,
    data: isText ? output.text : output.bytes.toBase64(),
    ...(isText ? {} : { encoding: "base64" as const }),
    sequence: output.sequence,
    next: output.next,
    time: new Date(output.timeMs).toISOString(),
    truncated: output.endsInsideLine,
    ...(isText && output.lossy > 0 ? { lossy: output.lossy } : {}),
  }
}
