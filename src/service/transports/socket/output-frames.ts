import { withJsonText } from "../../../lib/vector/json-text.ts"
import { binaryHeaderBytes, writeBinaryHeader } from "../../../protocol/binary-frame.ts"
import type { Encoding } from "../../../protocol/execute.ts"
import type { FeedEvent } from "../../gateway/ports.ts"

export type OutputEvent = Extract<FeedEvent, { kind: "output" }>

// One buffer for all: a send copies before it returns.
let frame = new Uint8Array(128 * 1024)
const encoder = new TextEncoder()

/** A piece of output as it goes on the wire. */
export function outputFrame(
  event: OutputEvent,
  executionId: string,
  subscription: number,
  encoding: Encoding,
): string | Uint8Array<ArrayBuffer> {
  switch (encoding) {
    case "utf8": {
      const lossy = event.lossy === 0 ? "" : `,"lossy":${event.lossy}`
      const { before, after } = notification(event, executionId, lossy)
      return withJsonText(before, event.bytes, after)
    }
    case "base64": {
      const { buffer, byteOffset, length } = event.bytes
      const data = Buffer.from(buffer, byteOffset, length).toString("base64")
      const { before, after } = notification(event, executionId, `,"encoding":"base64"`)
      return `${before}"${data}"${after}`
    }
    case "binary":
      return binaryFrame(event, subscription)
  }
}

/** What stands before and after the data. By hand, because only the data can need escaping. */
function notification(event: OutputEvent, executionId: string, more: string) {
  const before =
    `{"jsonrpc":"2.0","method":"process.output","params":{"execution_id":"${executionId}",` +
    `"type":"${event.stream}","data":`
  const after =
    `,"sequence":${event.sequence},` +
    `"next":"${event.next}","time":"${new Date(event.timeMs).toISOString()}",` +
    `"truncated":${event.endsInsideLine}${more}}}`
  return { before, after }
}

function binaryFrame(event: OutputEvent, subscription: number): Uint8Array<ArrayBuffer> {
  const longest = binaryHeaderBytes + event.next.length + event.bytes.length
  if (longest > frame.length) frame = new Uint8Array(longest)
  // A cursor is ASCII: its length in characters is its length in bytes.
  const { stream } = event
  writeBinaryHeader(frame, { stream, subscription, cursorBytes: event.next.length })
  encoder.encodeInto(event.next, frame.subarray(binaryHeaderBytes))
  frame.set(event.bytes, binaryHeaderBytes + event.next.length)
  return frame.subarray(0, longest)
}
