import { describe, expect, test } from "bun:test"
import type { ExecutionRecord } from "../../../../src/execution/record.ts"
import { viewOf } from "../../../../src/protocol/execution-view.ts"
import { recover } from "../../../../src/service/keeper/housekeeping/recovery.ts"
import type { Sweep } from "../../../../src/service/keeper/ports.ts"
import { ManualClock } from "../../../support/manual-clock.ts"
import { MemoryJournal } from "../../../support/memory-journal.ts"
import { MemoryTranscripts } from "../../../support/memory-transcripts.ts"
import { sampleId, sampleRecord, transcriptOf } from "../../../support/sample-record.ts"

const hashes = { chain: "c", stdout: "o", stderr: "e" }
const signed = {
  payloadType: "application/vnd.cc-executor.receipt+json",
  payload: "",
  signatures: [{ keyid: "k", sig: "s" }],
} as const

async function recovered(
  records: ExecutionRecord[],
  transcripts = new MemoryTranscripts(),
  sweeps = new Map<string, Sweep>(),
) {
  const journal = new MemoryJournal()
  for (const record of records) journal.create(record, null)
  const swept: string[] = []
  const lost = await recover({
    journal,
    transcripts,
    signer: { sign: () => ({ ...signed, signatures: [...signed.signatures] }) },
    clock: new ManualClock(),
    redaction: null,
    sweep: async (left) => {
      swept.push(...left.map(({ id }) => id))
      return sweeps
    },
  })
  return { journal, transcripts, swept, lost }
}

describe("what a dead keeper left", () => {
  test("is swept and ended as lost, with the reason and a receipt", async () => {
    const running = sampleRecord({ id: sampleId(1) })
    const paused = sampleRecord({ id: sampleId(2), state: { kind: "paused", pid: 7 } })

    const { journal, swept, lost } = await recovered([running, paused])

    expect(swept).toEqual([running.id, paused.id])
    expect(lost.map(({ id }) => id)).toEqual([running.id, paused.id])
    for (const record of lost) {
      expect(record.state).toMatchObject({ kind: "ended", outcome: { kind: "lost" } })
      expect(record.endedAt).not.toBeNull()
      expect(journal.receipts.has(record.id)).toBe(true)
    }
    expect(journal.unfinished()).toEqual([])
  })

  test("never gets an exit code that nobody saw, not even while it was draining", async () => {
    const state = {
      kind: "draining",
      pid: 7,
      exit: { kind: "exited", exitCode: 0 },
      cause: null,
    } as const

    const { lost } = await recovered([sampleRecord({ state })])

    expect(lost[0]?.state).toMatchObject({ outcome: { kind: "lost" } })
  })

  test("was not started where it was queued, and says so", async () => {
    const state = { kind: "queued" } as const

    const { lost } = await recovered([sampleRecord({ state, leader: null, startedAt: null })])

    const reason = expect.stringMatching(/^not started/)
    expect(lost[0]?.state).toMatchObject({ outcome: { kind: "lost", reason } })
  })

  test("has the transcript as far as it is whole, and tells what was cut", async () => {
    const record = sampleRecord()
    const found = { facts: transcriptOf(500), hashes, truncatedBytes: 17 }

    const { lost } = await recovered([record], new MemoryTranscripts([[record.id, found]]))

    expect(lost[0]).toMatchObject({ transcript: transcriptOf(500), hashes })
    const reason = expect.stringContaining("17 bytes")
    expect(lost[0]?.state).toMatchObject({ outcome: { reason } })
  })

  test("names what could not be ended", async () => {
    const record = sampleRecord()
    const survivors = [{ pid: 5, command: "stuck" }]

    const { lost } = await recovered(
      [record],
      new MemoryTranscripts(),
      new Map([[record.id, { ended: 1, survivors }]]),
    )

    expect(lost[0]?.survivors).toEqual(survivors)
  })

  test("does not claim that it knows how much was redacted", async () => {
    const redacted = { stdout: 1, stderr: 0, spec: 0 }

    const { lost } = await recovered([
      sampleRecord({ redacted }),
      sampleRecord({ id: sampleId(2) }),
    ])

    const reasons = lost.map((record) => viewOf(record).ending?.reason)
    expect(reasons[0]).toContain("redacted output since its last journaled event is not counted")
    expect(reasons[1]).not.toContain("redacted")
  })

  test("is left alone where it had ended, and its strays are removed", async () => {
    const state = { kind: "ended", outcome: { kind: "exited", exitCode: 0 } } as const
    const ended = sampleRecord({ state, endedAt: "2026-01-01T00:00:01.000Z" })
    const stray = sampleId(77)
    const transcripts = new MemoryTranscripts([
      [ended.id, null],
      [stray, null],
    ])

    const { journal, lost } = await recovered([ended], transcripts)

    expect(lost).toEqual([])
    expect(journal.find(ended.id)).toEqual(ended)
    expect(transcripts.removed).toEqual([stray])
  })
})
