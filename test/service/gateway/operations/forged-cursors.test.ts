import { describe, expect, test } from "bun:test"
import { decodeCursor, encodeCursor } from "../../../../src/service/gateway/operations/cursor.ts"
import type { Cursor, FeedEvent } from "../../../../src/service/gateway/ports.ts"
import {
  recordFieldBytes,
  segmentHeaderBytes,
} from "../../../../src/service/storage/transcript/format.ts"
import { forgedOutput } from "../../../support/forged-record.ts"
import { caller, eventsOf, kindsOf, StagedExecution } from "../../../support/staged-execution.ts"

const nothing = new Uint8Array(0)
const firstPayload = segmentHeaderBytes + recordFieldBytes
const invalid = { ok: false, failure: { reason: "INVALID_PARAMS" } }
const noon = Date.parse("2026-11-16T12:00:00.000Z")

function cursor(numbers: Partial<Cursor["position"]>, held: Partial<Cursor["held"]> = {}): string {
  const position = { segment: 0, offset: 0, sequence: 0, lines: 0, inside: 0, ...numbers }
  return encodeCursor({ position, held: { stdout: nothing, stderr: nothing, ...held } })
}

/** One number of a cursor that was given out, as another. */
function changed(text: string, change: Partial<Cursor["position"]>): string {
  const given = decodeCursor(text)
  if (given === null) throw new Error(`no cursor: ${text}`)
  return encodeCursor({ ...given, position: { ...given.position, ...change } })
}

function nextOf(event: FeedEvent | undefined): string {
  if (event?.kind !== "output") throw new Error(`no output: ${JSON.stringify(event)}`)
  return event.next
}

describe("output that looks like a record", () => {
  const told = { stream: "stderr", text: "I was never said\n", timeMs: 7 } as const

  test("is no place for a cursor", async () => {
    using staged = new StagedExecution()
    const { bytes, at } = forgedOutput("x", [{ ...told, sequence: 5 }], "and more\n".repeat(20))
    staged.write(bytes)
    staged.write("end\n")
    const offset = firstPayload + at

    for (const inside of [0, 3]) {
      const forged = cursor({ offset, sequence: 5 + inside, inside })
      expect(await staged.operations.open(caller, staged.id, forged)).toMatchObject(invalid)
    }
  })

  test("is none at the end of what is there, to be read when more comes", async () => {
    using staged = new StagedExecution()
    const after = "and more\n".repeat(20)
    const length = forgedOutput("x", [{ ...told, sequence: 0 }], after).bytes.length
    const { bytes, at } = forgedOutput("x", [{ ...told, sequence: length }], after)
    staged.write(bytes)
    const forged = cursor({ offset: firstPayload + at, sequence: length, lines: 20 })

    expect(await staged.operations.open(caller, staged.id, forged)).toMatchObject(invalid)
  })

  test("is read as what it is by whoever comes to it from before", async () => {
    using staged = new StagedExecution()
    const { bytes } = forgedOutput("x", [{ ...told, sequence: 0 }])
    staged.write("first\n")
    staged.write(bytes, "stderr")

    using feed = await staged.open()
    const events = eventsOf(feed, "bytes")

    expect(events).toMatchObject([
      { stream: "stdout", timeMs: noon },
      { stream: "stderr", bytes: Uint8Array.from(bytes), sequence: 6, timeMs: noon },
    ])
  })
})

describe("a cursor of which one number was changed", () => {
  test("is refused, and the words say that it is none of this output", async () => {
    using staged = new StagedExecution()
    for (let line = 0; line < 9; line += 1)
      staged.write(`${line}\n`, line % 2 ? "stderr" : "stdout")
    using feed = await staged.open()
    const [, second] = eventsOf(feed, "bytes")
    const next = nextOf(second)
    const { position } = decodeCursor(next) ?? { position: { ...feed.position(), inside: 0 } }
    const changes = (["segment", "offset", "sequence", "lines", "inside"] as const).flatMap(
      (name) => [-1, 1, 64].map((by) => ({ [name]: position[name] + by })),
    )

    const refusals = await Promise.all(
      changes
        .filter((change) => Object.values(change).every((number) => number >= 0))
        .map((change) => staged.operations.open(caller, staged.id, changed(next, change))),
    )

    expect(refusals.length).toBeGreaterThan(10)
    for (const refusal of refusals) {
      expect(refusal).toMatchObject(invalid)
      expect(refusal.ok ? "" : refusal.failure.message).toContain("is not a cursor of this output")
    }
    using again = await staged.open(next)
    expect(eventsOf(again, "bytes")[0]).toMatchObject({
      bytes: Uint8Array.from(Buffer.from("2\n")),
      sequence: 4,
    })
  })

  test("is refused also where its output was dropped, if it cannot have been", async () => {
    using staged = new StagedExecution({ bytes: 1024 })
    using feed = await staged.open()
    staged.write("first\n")
    const next = nextOf(eventsOf(feed, "bytes")[0])
    for (let line = 0; line < 400; line += 1) staged.write(`${line} and so on\n`)

    const { sequence } = staged.record.transcript.start

    for (const change of [{ segment: 900 }, { sequence: sequence - 1, lines: sequence - 1 }]) {
      const forged = changed(next, change)
      expect(await staged.operations.open(caller, staged.id, forged)).toMatchObject(invalid)
    }
    using again = await staged.open(next)
    expect(again.next("bytes")).toMatchObject({ kind: "gap", bytes: sequence - 6 })
  })
})

describe("bytes that a cursor holds back", () => {
  const euro = Uint8Array.from(Buffer.from("€"))
  const later = new Date(noon + 5000)

  test("must be those that were written", async () => {
    using staged = new StagedExecution()
    staged.write(Buffer.concat([Buffer.from("1"), euro.slice(0, 2)]), "stdout", later)
    using feed = await staged.open()
    const honest = nextOf(eventsOf(feed, "text")[0])
    const { position } = decodeCursor(honest) ?? { position: {} }
    const others = [
      { stdout: Uint8Array.of(0xe2, 0x83) },
      { stderr: euro.slice(0, 2) },
      { stdout: euro.slice(0, 2), stderr: euro.slice(0, 1) },
    ]

    for (const held of others) {
      const forged = cursor(position, held)
      expect(await staged.operations.open(caller, staged.id, forged)).toMatchObject(invalid)
    }
    using again = await staged.open(honest)
    expect(eventsOf(again, "bytes")).toMatchObject([
      { bytes: euro.slice(0, 2), sequence: 1, timeMs: later.getTime() },
    ])
  })

  test("come with their own times, also from far before, in places that add up", async () => {
    using staged = new StagedExecution()
    staged.write(Uint8Array.of(0xf0), "stdout", new Date(noon + 1))
    staged.write("between\n", "stderr", new Date(noon + 2))
    staged.write(Uint8Array.of(0x9f), "stdout", new Date(noon + 3))
    staged.write("more\n", "stderr", new Date(noon + 4))
    staged.write(Uint8Array.of(0xc3), "stderr", new Date(noon + 5))
    using feed = await staged.open()
    eventsOf(feed, "text")

    using again = await staged.open(feed.cursor())

    expect(eventsOf(again, "bytes")).toMatchObject([
      { stream: "stdout", bytes: Uint8Array.of(0xf0), sequence: 13, timeMs: noon + 1 },
      { stream: "stdout", bytes: Uint8Array.of(0x9f), sequence: 14, timeMs: noon + 3 },
      { stream: "stderr", bytes: Uint8Array.of(0xc3), sequence: 15, timeMs: noon + 5 },
    ])
  })

  test("are told as a gap once their record was dropped", async () => {
    using staged = new StagedExecution({ bytes: 1024 })
    using feed = await staged.open()
    staged.write(euro.slice(0, 2))
    eventsOf(feed, "text")
    for (let line = 0; line < 400; line += 1) {
      staged.write("a line of it\n", "stderr")
      eventsOf(feed, "text")
    }
    const honest = feed.cursor()
    staged.write(euro.slice(2))

    using again = await staged.open(honest)
    const [gap, ...rest] = eventsOf(again, "bytes")

    expect(decodeCursor(honest)?.held.stdout).toEqual(euro.slice(0, 2))
    expect(gap).toMatchObject({ kind: "gap", from: honest, bytes: 2, lines: 0 })
    expect(rest).toMatchObject([{ kind: "output", bytes: euro.slice(2) }])
    expect(kindsOf(rest)).toEqual(["output"])
  })
})
