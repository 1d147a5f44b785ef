import assert from "node:assert/strict"
import type { StreamName } from "../../src/execution/record.ts"
import { decodeCursor } from "../../src/service/gateway/operations/cursor.ts"
import type { FeedEvent, OutputForm } from "../../src/service/gateway/ports.ts"
import { type Chance, oneOf, someBytes } from "./chance.ts"
import { forgedOutput } from "./forged-record.ts"
import type { StagedExecution } from "./staged-execution.ts"

const firstTimeMs = Date.parse("2026-11-16T12:00:00.000Z")
const forgedTimeMs = 1_000_000

type Written = { stream: StreamName; bytes: Uint8Array; sequence: number; timeMs: number }

/** What the execution wrote: the only thing that may ever be delivered. */
export class WrittenOutput {
  readonly written: Written[] = []
  readonly #staged: StagedExecution
  readonly #chance: Chance
  #sequence = 0
  #timeMs = firstTimeMs

  constructor(staged: StagedExecution, chance: Chance) {
    this.#staged = staged
    this.#chance = chance
  }

  write(): void {
    const chance = this.#chance
    this.#timeMs += 1 + chance(1000)
    const time = new Date(this.#timeMs)
    if (chance(12) === 0) {
      this.#staged.resize({ cols: 1 + chance(300), rows: 1 + chance(300) }, time)
      return
    }
    const stream = oneOf(chance, ["stdout", "stderr"] as const)
    const bytes = this.#output()
    this.written.push({ stream, bytes, sequence: this.#sequence, timeMs: this.#timeMs })
    this.#sequence += bytes.length
    this.#staged.write(bytes, stream, time)
  }

  #output(): Uint8Array {
    const chance = this.#chance
    switch (chance(5)) {
      case 0:
        return someBytes(chance, 1 + chance(200))
      case 1: {
        const characters = Buffer.from("€uro, 😀 and a line\nä".repeat(1 + chance(30)))
        const from = chance(characters.length)
        return characters.subarray(from, from + 1 + chance(characters.length - from))
      }
      case 2:
        return Buffer.from("line\n".repeat(1 + chance(500)))
      default:
        return this.#forged()
    }
  }

  /** Records as an attacker would write them: at any sequence that a cursor could name. */
  #forged(): Uint8Array {
    const chance = this.#chance
    const before = "x".repeat(chance(40))
    const after = oneOf(chance, ["", "\n", "y\n".repeat(chance(100))])
    let sequence = Math.max(0, this.#sequence + chance(400) - 100)
    const records = Array.from({ length: 1 + chance(4) }, () => {
      const text = "forged\n".slice(chance(6)).repeat(1 + chance(5))
      const record = {
        stream: oneOf(chance, ["stdout", "stderr"] as const),
        text,
        sequence,
        timeMs: forgedTimeMs + chance(1000),
      }
      sequence += text.length
      return record
    })
    const isAtEnd = chance(3) === 0
    if (!isAtEnd) return forgedOutput(before, records, after).bytes
    // The first record claims the place after all of this output.
    const end = this.#sequence + forgedOutput(before, records, after).bytes.length
    const shift = end - (records[0]?.sequence ?? 0)
    const moved = records.map((each) => ({ ...each, sequence: each.sequence + shift }))
    return forgedOutput(before, moved, after).bytes
  }

  check(events: readonly FeedEvent[], form: OutputForm, cursor: string): void {
    const start = decodeCursor(cursor)
    assert(start !== null)
    const { position, held } = start
    const heldLength = held.stdout.length + held.stderr.length
    let bytes = position.sequence - heldLength
    let heldBytes = form === "bytes" ? heldLength : 0
    let isExact = true
    for (const event of events) {
      assert(event.kind !== "failed", `${cursor}: ${JSON.stringify(event)}`)
      if (event.kind === "gap") {
        assert(event.bytes > 0, `${cursor}: a gap of ${event.bytes}`)
        assert(event.lines >= 0 && event.lines <= event.bytes, `${cursor}: ${event.lines} lines`)
        bytes += event.bytes
        heldBytes -= event.bytes
      }
      if (event.kind !== "output") continue
      // What was held back is told late: its place only adds up to what was delivered before.
      const isHeld = heldBytes > 0
      if (isHeld) assert.equal(event.sequence, bytes, cursor)
      heldBytes -= event.bytes.length
      const isAsWritten = isHeld ? this.#isFromRecord(event) : this.#isAsWritten(event)
      assert(isAsWritten || form === "text", `invented output, ${cursor}: ${JSON.stringify(event)}`)
      if (!isAsWritten) this.#checkText(event, cursor)
      isExact = isExact && isAsWritten
      bytes += event.bytes.length
    }
    // Text has other lengths where something was no text.
    if (isExact && events.at(-1)?.kind === "ended") assert.equal(bytes, this.#sequence, cursor)
  }

  /** Each time is that of one record. */
  #isFromRecord(event: Extract<FeedEvent, { kind: "output" }>): boolean {
    const record = this.written.find(({ timeMs }) => timeMs === event.timeMs)
    return record?.stream === event.stream && Buffer.from(record.bytes).includes(event.bytes)
  }

  /** Byte for byte, at its place, and with the time of its first byte. */
  #isAsWritten(event: Extract<FeedEvent, { kind: "output" }>): boolean {
    const first = this.#at(event.sequence)
    if (first?.timeMs !== event.timeMs) return false
    for (let at = 0; at < event.bytes.length; ) {
      const record = this.#at(event.sequence + at)
      if (record?.stream !== event.stream) return false
      const inside = event.sequence + at - record.sequence
      const written = record.bytes.subarray(inside, inside + event.bytes.length - at)
      if (written.length === 0) return false
      if (!Buffer.from(written).equals(event.bytes.subarray(at, at + written.length))) return false
      at += written.length
    }
    return true
  }

  /** Characters that were completed late, and what stands for bytes that are none. */
  #checkText(event: Extract<FeedEvent, { kind: "output" }>, cursor: string): void {
    const shown = { ...event, bytes: Buffer.from(event.bytes).toString() }
    const what = `${cursor}: ${JSON.stringify(shown)}`
    const times = this.written.filter(({ stream }) => stream === event.stream)
    assert(
      times.some(({ timeMs }) => timeMs === event.timeMs),
      `an invented time, ${what}`,
    )
    const all = Buffer.concat(times.map(({ bytes }) => bytes)).toString("utf8")
    const text = Buffer.from(event.bytes)
      .toString("utf8")
      .replaceAll(/^\uFFFD+|\uFFFD+$/g, "")
    assert(all.includes(text), `invented text, ${what}`)
  }

  #at(sequence: number): Written | undefined {
    let low = 0
    let high = this.written.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.written[middle]?.sequence ?? 0) <= sequence) low = middle
      else high = middle - 1
    }
    return this.written[low]
  }
}
