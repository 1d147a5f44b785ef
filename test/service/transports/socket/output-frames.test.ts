import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { readBinaryFrame } from "../../../../src/protocol/binary-frame.ts"
import { notifications } from "../../../../src/protocol/notifications.ts"
import {
  type OutputEvent,
  outputFrame,
} from "../../../../src/service/transports/socket/output-frames.ts"
import { sampleId } from "../../../support/sample-record.ts"

const executionId = sampleId(1)

function event(text: string, change: Partial<OutputEvent> = {}): OutputEvent {
  return {
    kind: "output",
    stream: "stdout",
    bytes: Buffer.from(text),
    sequence: 12,
    line: 1,
    timeMs: Date.UTC(2026, 10, 16),
    next: "1.0.3c.h.1.0",
    endsInsideLine: false,
    lossy: 0,
    ...change,
  }
}

function noticeOf(frame: string | Uint8Array) {
  const message = JSON.parse(String(frame))
  expect(message).toMatchObject({ jsonrpc: "2.0", method: "process.output" })
  return notifications["process.output"].parse(message.params)
}

describe("output on the wire", () => {
  test("is JSON of the protocol's shape, whatever the text", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        fc.nat(),
        fc.boolean(),
        (text, lossy, isInside) => {
          const output = event(text, { lossy, endsInsideLine: isInside })
          const notice = noticeOf(outputFrame(output, executionId, 1, "utf8"))
          expect(notice).toEqual({
            execution_id: executionId,
            type: "stdout",
            data: text,
            sequence: 12,
            next: "1.0.3c.h.1.0",
            time: "2026-11-16T00:00:00.000Z",
            truncated: isInside,
            ...(lossy === 0 ? {} : { lossy }),
          })
        },
      ),
      { numRuns: 500 },
    )
  })

  test("is exact in base64 and in binary, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat({ max: 65_535 }), (bytes, number) => {
        const output = event("", { bytes, stream: "stderr" })
        const notice = noticeOf(outputFrame(output, executionId, number, "base64"))
        const frame = outputFrame(output, executionId, number, "binary")

        expect(notice).toMatchObject({ encoding: "base64", type: "stderr" })
        expect(Buffer.from(notice.data, "base64")).toEqual(Buffer.from(bytes))
        expect(typeof frame === "string" ? null : readBinaryFrame(frame)).toEqual({
          stream: "stderr",
          subscription: number,
          next: output.next,
          bytes: Uint8Array.from(bytes),
        })
      }),
      { numRuns: 500 },
    )
  })

  test("may be longer than what was sent before", () => {
    const bytes = new Uint8Array(200_000).fill(7)
    const frame = outputFrame(event("", { bytes }), executionId, 1, "binary")
    expect(typeof frame === "string" ? 0 : readBinaryFrame(frame)?.bytes.length).toBe(200_000)
  })
})
