import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import {
  type BinaryFrame,
  binaryHeaderBytes,
  readBinaryFrame,
  writeBinaryHeader,
} from "../../src/protocol/binary-frame.ts"

function frameOf({ stream, subscription, next, bytes }: BinaryFrame): Uint8Array {
  const cursor = new TextEncoder().encode(next)
  const frame = new Uint8Array(binaryHeaderBytes + cursor.length + bytes.length)
  writeBinaryHeader(frame, { stream, subscription, cursorBytes: cursor.length })
  frame.set(cursor, binaryHeaderBytes)
  frame.set(bytes, binaryHeaderBytes + cursor.length)
  return frame
}

describe("a binary frame", () => {
  test("is, byte by byte, what the protocol says", () => {
    const bytes = Uint8Array.of(0xde, 0xad)
    const frame = frameOf({ stream: "stderr", subscription: 0x0102, next: "1.a", bytes })

    expect(Buffer.from(frame).toString("hex")).toBe(
      ["01", "02", "0102", "00000003", "312e61", "dead"].join(""),
    )
    expect(frameOf({ stream: "stdout", subscription: 1, next: "", bytes })[1]).toBe(1)
  })

  test("is read as it was written, wherever it lies in memory", () => {
    fc.assert(
      fc.property(
        fc.record({
          stream: fc.constantFrom("stdout" as const, "stderr" as const),
          subscription: fc.nat({ max: 65_535 }),
          next: fc.string(),
          bytes: fc.uint8Array({ maxLength: 200 }),
        }),
        fc.nat({ max: 9 }),
        (frame, before) => {
          const written = frameOf(frame)
          const memory = new Uint8Array(before + written.length + 5)
          memory.set(written, before)
          const read = readBinaryFrame(memory.subarray(before, before + written.length))
          expect(read).toEqual({ ...frame, bytes: Uint8Array.from(frame.bytes) })
        },
      ),
      { numRuns: 1000 },
    )
  })

  test("that is none is not read, and nothing past its end is", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const read = readBinaryFrame(bytes)
        if (read === null) return
        expect(bytes[0]).toBe(1)
        expect(read.bytes.length).toBeLessThanOrEqual(bytes.length - binaryHeaderBytes)
      }),
      { numRuns: 2000 },
    )
  })

  const none: [string, string][] = [
    ["nothing", ""],
    ["half a header", "01010001"],
    ["another version", "0201000100000000"],
    ["a third stream", "0103000100000000"],
    ["a cursor longer than the frame", "0101000100000005316262"],
    ["a cursor of four gigabytes", "01010001ffffffff31"],
  ]
  test.each(none)("is not %s", (_, hex) => {
    expect(readBinaryFrame(Buffer.from(hex, "hex"))).toBeNull()
  })
})
