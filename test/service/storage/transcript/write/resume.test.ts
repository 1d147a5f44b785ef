import { describe, expect, test } from "bun:test"
import { appendFileSync, truncateSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { HandedTranscript } from "../../../../../src/execution/handover.ts"
import type { TranscriptWriter } from "../../../../../src/service/keeper/ports.ts"
import {
  bytesOf,
  executionId,
  noon,
  piecesFrom,
  roomy,
  start,
  temporaryTranscripts,
  textOf,
} from "../temporary-transcripts.ts"

const small = { bytes: 4096, lines: null, policy: "drop-oldest" } as const
const ignored = () => undefined

/** What one program says of its transcript, as the next one reads it. */
function handed(writer: TranscriptWriter) {
  const sent = JSON.parse(JSON.stringify(writer.handOver()))
  return { ...HandedTranscript.parse(sent), facts: writer.facts() }
}

describe("a transcript that another program goes on with", () => {
  test("is the one that a single program would have written, hashes and all", async () => {
    const output = fc.record({
      stream: fc.constantFrom("stdout" as const, "stderr" as const),
      text: fc.string({ minLength: 1, maxLength: 3000 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(output, { maxLength: 12 }), async (outputs) => {
        using one = temporaryTranscripts()
        using other = temporaryTranscripts()
        using whole = one.store.create(executionId, roomy, ignored)
        let writer = other.store.create(executionId, roomy, ignored)
        for (const { stream, text } of outputs) {
          whole.append(stream, bytesOf(text), noon)
          writer.append(stream, bytesOf(text), noon)
          const before = writer
          writer = await other.store.resume(executionId, roomy, handed(before), ignored)
          before[Symbol.dispose]()
        }
        using last = writer

        expect(last.facts()).toEqual(whole.facts())
        expect(last.hashes()).toEqual(whole.hashes())
        expect(textOf(piecesFrom(other.reader, start, last.facts()))).toEqual(
          textOf(piecesFrom(one.reader, start, whole.facts())),
        )
      }),
      { numRuns: 40 },
    )
  })

  test("still counts what it has forgotten, and has no hash that it cannot know", async () => {
    using transcripts = temporaryTranscripts()
    using first = transcripts.store.create(executionId, small, ignored)
    for (let nth = 0; nth < 100; nth += 1)
      first.append("stdout", bytesOf(`line ${nth}\n`.repeat(20)), noon)
    first.discard(bytesOf("lost\n"))
    const before = first.facts()

    using second = await transcripts.store.resume(executionId, small, handed(first), ignored)
    second.append("stdout", bytesOf("more\n"), noon)

    expect(before.start.sequence).toBeGreaterThan(0)
    expect(second.facts().stdout.bytes).toBe(before.stdout.bytes + 5)
    expect(second.facts().dropped.bytes).toBeGreaterThanOrEqual(before.dropped.bytes)
    expect(second.hashes()).toMatchObject({ stdout: null, stderr: null })
  })

  test("is not gone on with when it is not what was handed over", async () => {
    using transcripts = temporaryTranscripts()
    using writer = transcripts.store.create(executionId, roomy, ignored)
    writer.append("stdout", bytesOf("one\ntwo\n"), noon)
    const file = join(transcripts.directory, executionId, "00000000.seg")
    const facts = handed(writer)
    const resume = () => transcripts.store.resume(executionId, roomy, facts, ignored).catch(String)

    appendFileSync(file, "x")
    expect(await resume()).toContain("not what was handed over")
    truncateSync(file, facts.facts.end.offset - 1)
    expect(await resume()).toContain("not what was handed over")
  })
})
