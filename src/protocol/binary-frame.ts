import type { StreamName } from "../execution/record.ts"

/**
 * Output as a binary WebSocket frame, integers big-endian:
 *
 *     version 1 · stream 1 · subscription 2 · cursor length 4 · cursor · bytes
 */
const version = 1
export const binaryHeaderBytes = 8

export type BinaryFrame = {
  stream: StreamName
  subscription: number
  next: string
  bytes: Uint8Array
}

export function writeBinaryHeader(
  target: Uint8Array,
  frame: { stream: StreamName; subscription: number; cursorBytes: number },
): void {
  const view = new DataView(target.buffer, target.byteOffset, binaryHeaderBytes)
  view.setUint8(0, version)
  view.setUint8(1, frame.stream === "stdout" ? 1 : 2)
  view.setUint16(2, frame.subscription)
  view.setUint32(4, frame.cursorBytes)
}

/** Null when the bytes are not a frame of this version. */
export function readBinaryFrame(frame: Uint8Array): BinaryFrame | null {
  if (frame.length < binaryHeaderBytes) return null
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length)
  const stream = streamOf(view.getUint8(1))
  const cursorEnd = binaryHeaderBytes + view.getUint32(4)
  if (view.getUint8(0) !== version || stream === null || cursorEnd > frame.length) return null
  return {
    stream,
    subscription: view.getUint16(2),
    next: new TextDecoder().decode(frame.subarray(binaryHeaderBytes, cursorEnd)),
    bytes: frame.subarray(cursorEnd),
  }
}

function streamOf(code: number): StreamName | null {
  if (code === 1) return "stdout"
  return code === 2 ? "stderr" : null
}
