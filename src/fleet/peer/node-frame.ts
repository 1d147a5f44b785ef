import type { Output } from "../../protocol/output-chunk.ts"

/**
 * Output between nodes, with all that its reader may want to know of it; integers big-endian:
 *
 *     version 1 · flags 1 · cursor length 2 · lossy 4 · sequence 8 · line 8 · time 8 ·
 *     cursor · bytes
 *
 * Flags: 1 is standard error, 2 a piece that ends inside a line.
 */
const version = 2
const headerBytes = 32

// One buffer for all: a send copies before it returns.
let frame = new Uint8Array(128 * 1024)
const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function nodeFrame(output: Output): Uint8Array<ArrayBuffer> {
  const { stream, bytes, next } = output
  const length = headerBytes + next.length + bytes.length // a cursor is ASCII
  if (length > frame.length) frame = new Uint8Array(length)
  const view = new DataView(frame.buffer)
  view.setUint8(0, version)
  view.setUint8(1, (stream === "stderr" ? 1 : 0) | (output.endsInsideLine ? 2 : 0))
  view.setUint16(2, next.length)
  view.setUint32(4, output.lossy)
  view.setFloat64(8, output.sequence)
  view.setFloat64(16, output.line)
  view.setFloat64(24, output.timeMs)
  encoder.encodeInto(next, frame.subarray(headerBytes))
  frame.set(bytes, headerBytes + next.length)
  return frame.subarray(0, length)
}

/** Null when the bytes are not a frame of this version. Its bytes are those of the frame. */
export function readNodeFrame(bytes: Uint8Array): Output | null {
  if (bytes.length < headerBytes || bytes[0] !== version) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset, headerBytes)
  const cursorEnd = headerBytes + view.getUint16(2)
  if (cursorEnd > bytes.length) return null
  const flags = view.getUint8(1)
  return {
    stream: (flags & 1) === 0 ? "stdout" : "stderr",
    bytes: bytes.subarray(cursorEnd),
    lossy: view.getUint32(4),
    sequence: view.getFloat64(8),
    line: view.getFloat64(16),
    timeMs: view.getFloat64(24),
    next: decoder.decode(bytes.subarray(headerBytes, cursorEnd)),
    endsInsideLine: (flags & 2) !== 0,
  }
}
