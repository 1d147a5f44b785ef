import { describe, expect, test } from "bun:test"
import type { ExecutionRecord } from "../../../../src/execution/record.ts"
import { unfinishedWork } from "../../../../src/service/gateway/operations/unfinished-work.ts"
import type { ReadOutcome } from "../../../../src/service/gateway/ports.ts"
import { sampleId, transcriptOf } from "../../../support/sample-record.ts"
import { sampleSession, sampleStatus } from "../../../support/sample-session.ts"

type Event = { event: string } & Record<string, unknown>

const turn = (turn_id: string, more: object = {}) => {
  return { event: "turn", turn_id, by: "alice", text: `do ${turn_id}`, ...more }
}
const turnEnded = (turn_id: string) => ({ event: "turn-ended", turn_id, outcome: "success" })
const resumed = { event: "resumed", after: "restart", attempt: 1 }

function textOf(events: readonly Event[]): string {
  const head = { at: "2026-01-01T00:00:00.000Z" }
  return events
    .map((event, at) => `${JSON.stringify({ v: 1, n: at + 1, ...head, ...event })}\n`)
    .join("")
}

/** Reads logs from memory, a few bytes at a time. */
async function worked(logs: Map<ExecutionRecord, string>, pieceBytes = 50) {
  const texts = new Map([...logs].map(([{ id }, text]) => [id, Buffer.from(text)]))
  const read = (id: string, position: { sequence: number }): ReadOutcome => {
    const { sequence } = position
    const bytes = texts.get(id)?.subarray(sequence, sequence + pieceBytes) ?? Buffer.alloc(0)
    if (bytes.length === 0) return { kind: "at-end" }
    const end = { segment: 0, offset: 0, lines: 0, inside: 0, sequence: sequence + bytes.length }
    const facts = { sequence, timeMs: 0, next: end, endsInsideLine: true }
    return { kind: "piece", piece: { stream: "stdout", bytes, ...facts } }
  }
  const records = [...logs.keys()]
  const find = (id: string) => records.find((record) => record.id === id) ?? null
  const [last] = records
  if (last === undefined) throw new Error("no log")
  return unfinishedWork(last, { find }, { read })
}

const names = (work: Awaited<ReturnType<typeof worked>>) =>
  work.ok ? work.value.turns.map(({ turnId }) => turnId) : work.failure

describe("what a session had not finished", () => {
  test("are the turns that were accepted and have no end, in their order", async () => {
    const content = [{ type: "text", text: "ä" }]
    const log = [
      turn("a"),
      turn("b"),
      turnEnded("a"),
      { event: "message", message: { text: '"event":"turn"' } },
      turn("c", { text: undefined, content }),
      turn("d", { when: "now" }),
      { event: "status", ...sampleStatus({ session_id: "s" }) },
    ]

    const work = await worked(new Map([[sampleSession(), textOf(log)]]))

    expect(names(work)).toEqual(["b", "d", "c"])
    expect(work).toMatchObject({ value: { status: { session_id: "s" }, problem: null } })
    expect(work).toMatchObject({ value: { turns: [{ by: "alice", content: "do b" }, {}, {}] } })
    expect(work).toMatchObject({ value: { turns: [{}, {}, { content }] } })
  })

  test("cannot be told where nothing was recorded, or only half a line", async () => {
    for (const text of ["", textOf([turn("a")]).slice(0, -1)]) {
      expect(names(await worked(new Map([[sampleSession(), text]])))).toMatch(/^Nothing of it/)
    }
  })

  test("is still that of the execution before where it had not begun to go on", async () => {
    const old = sampleSession({}, { id: sampleId(1) })
    const next = sampleSession({ restartOf: old.id }, { id: sampleId(2) })
    const before = textOf([turn("a"), turn("b")])

    for (const half of [[], [turn("a")]]) {
      const logs = new Map([
        [next, textOf(half)],
        [old, before],
      ])
      expect(names(await worked(logs))).toEqual(["a", "b"])
    }
    const begun = textOf([turn("a"), turn("b"), resumed, turnEnded("a")])
    const logs = new Map([
      [next, begun],
      [old, before],
    ])
    expect(names(await worked(logs))).toEqual(["b"])
    expect(names(await worked(new Map([[next, ""]])))).toMatch(/has been removed/)
  })

  test("is gone on with, where the words of the turn are no longer kept", async () => {
    const turns = { accepted: 3, ended: 0, waiting: 2, current: "a", responses: 1 }
    const agent = sampleStatus({ turns })
    const text = `half of a line"}\n${textOf([turn("c")])}`
    const facts = transcriptOf(text.length)
    const transcript = { ...facts, start: { segment: 0, offset: 0, sequence: 1, lines: 0 } }

    const work = await worked(new Map([[sampleSession({}, { agent, transcript }), text]]))

    expect(names(work)).toEqual(["a", "c"])
    expect(work).toMatchObject({
      value: { problem: expect.stringContaining("1 turn that waited") },
    })
  })
})
