import { describe, expect, test } from "bun:test"
import { withoutDescriptors } from "../../../../support/without-descriptors.ts"
import {
  bytesOf,
  executionId,
  noon,
  piecesFrom,
  start,
  temporaryTranscripts,
  textOf,
} from "../temporary-transcripts.ts"

// Sixteen segments of 64 bytes.
const small = { bytes: 1024, lines: null, policy: "block" } as const
const line = `${"x".repeat(49)}\n`

describe("a transcript for whose next file there is no descriptor", () => {
  test("gives back what it could not write, and goes on where it stopped", async () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, small, () => {})
    writer.append("stdout", bytesOf(line), noon)
    const before = { facts: writer.facts(), hashes: writer.hashes() }

    const short = withoutDescriptors()
    const outcome = writer.append("stdout", bytesOf(line), noon)
    short[Symbol.dispose]()

    if (outcome.kind !== "short") throw new Error(`it was ${outcome.kind}`)
    expect(outcome.error).toMatchObject({ code: "EMFILE" })
    expect(Buffer.from(outcome.rest).toString()).toBe(line)
    expect({ facts: writer.facts(), hashes: writer.hashes() }).toEqual(before)
    expect(writer.append("stdout", outcome.rest, noon)).toEqual({ kind: "appended" })
    const facts = writer.facts()
    expect(textOf(piecesFrom(transcripts.reader, start, facts))).toBe(line + line)
    const verification = await transcripts.reader.verify(executionId, facts, {
      hashes: writer.hashes(),
    })
    expect(verification.chain).toEqual({ kind: "intact" })
  })

  test("says so at its very first one, too", () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, small, () => {})

    const short = withoutDescriptors()
    const outcome = writer.append("stderr", bytesOf(line), noon)
    short[Symbol.dispose]()

    expect(outcome.kind).toBe("short")
    expect(writer.append("stderr", bytesOf(line), noon)).toEqual({ kind: "appended" })
  })
})
