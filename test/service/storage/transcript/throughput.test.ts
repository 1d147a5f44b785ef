import { describe, expect, test } from "bun:test"
import { bytesOf, executionId, noon, start, temporaryTranscripts } from "./temporary-transcripts.ts"

// Printed, not asserted: what a machine does depends on what else it does.
describe("some megabytes", () => {
  test.each([
    ["64 KiB at a time", 64 * 1024, 40_000_000],
    ["4 KiB at a time", 4 * 1024, 20_000_000],
    ["100 bytes at a time", 100, 4_000_000],
  ])(
    "pass through, %s",
    async (name, chunkBytes, totalBytes) => {
      using transcripts = temporaryTranscripts()
      const budget = { bytes: 1024 ** 3, lines: null, policy: "drop-oldest" as const }
      using writer = transcripts.store.create(executionId, budget, () => {})
      const chunk = bytesOf(`${"x".repeat(79)}\n`.repeat(chunkBytes / 80 + 1).slice(0, chunkBytes))
      const count = Math.floor(totalBytes / chunkBytes)

      const appendNs = await elapsedNs(() => {
        for (let index = 0; index < count; index += 1) writer.append("stdout", chunk, noon)
      })
      const facts = writer.facts()
      let calls = 0
      let bytes = 0
      const readNs = await elapsedNs(() => {
        let position = start
        for (;;) {
          const outcome = transcripts.reader.read(executionId, position, facts)
          if (outcome.kind !== "piece") break
          calls += 1
          bytes += outcome.piece.bytes.length
          position = outcome.piece.next
        }
      })
      const claim = { hashes: writer.hashes() }
      const verifyNs = await elapsedNs(async () => {
        const { chain } = await transcripts.reader.verify(executionId, facts, claim)
        expect(chain.kind).toBe("intact")
      })

      expect(bytes).toBe(count * chunkBytes)
      const rate = (ns: number) => `${(bytes / ns).toFixed(2)} GB/s`
      const each = (ns: number, times: number) => `${(ns / times / 1000).toFixed(2)} µs each`
      console.log(
        `${name}: append ${rate(appendNs)} (${each(appendNs, count)}), ` +
          `read ${rate(readNs)} (${each(readNs, calls)}), verify ${rate(verifyNs)}`,
      )
    },
    60_000,
  )
})

async function elapsedNs(work: () => unknown): Promise<number> {
  const from = Bun.nanoseconds()
  await work()
  return Bun.nanoseconds() - from
}
