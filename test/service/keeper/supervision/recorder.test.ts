import { describe, expect, test } from "bun:test"
import type {
  AppendOutcome,
  ChildOutput,
  Redaction,
  TranscriptWriter,
} from "../../../../src/service/keeper/ports.ts"
import { Recorder } from "../../../../src/service/keeper/supervision/recorder.ts"
import { compileRedaction } from "../../../../src/service/redaction/redaction.ts"
import { ManualClock } from "../../../support/manual-clock.ts"
import { transcriptOf } from "../../../support/sample-record.ts"

/** A pipe that gives what it is told to, and then waits until somebody gives up on it. */
class HeldPipe implements ChildOutput {
  readonly #pieces: string[]
  readonly #cancelled = Promise.withResolvers<null>()
  readonly drained = Promise.withResolvers<void>()

  constructor(...pieces: string[]) {
    this.#pieces = pieces
  }

  async read(): Promise<Uint8Array | null> {
    const piece = this.#pieces.shift()
    if (piece !== undefined) return Buffer.from(piece)
    this.drained.resolve()
    return this.#cancelled.promise
  }

  cancel(): void {
    this.#cancelled.resolve(null)
  }

  handOver(): null {
    this.cancel()
    return null
  }
}

class WrittenText implements TranscriptWriter {
  text = ""
  /** While there is one, a letter is written, and for the rest something is short. */
  shortage: Error | null = null

  append(_stream: string, bytes: Uint8Array): AppendOutcome {
    expect(bytes.length).toBeGreaterThan(0)
    if (this.shortage !== null) {
      this.text += Buffer.from(bytes.subarray(0, 1)).toString()
      return { kind: "short", rest: bytes.subarray(1), error: this.shortage }
    }
    this.text += Buffer.from(bytes).toString()
    return { kind: "appended" } as const
  }

  facts = () => transcriptOf(this.text.length)
  appendResize = () => ({ kind: "appended" }) as const
  discard = () => undefined
  isFull = () => false
  forgetBefore = () => undefined
  hashes = () => ({ chain: "", stdout: "", stderr: "" })
  handOver = () => ({ chain: "", discarded: { bytes: 0, lines: 0 } })
  sync = () => Promise.resolve();
  [Symbol.dispose] = () => undefined
}

function recording(pipe: HeldPipe, redaction: Redaction | null, clock = new ManualClock()) {
  const transcript = new WrittenText()
  const advances: number[] = []
  const settings = {
    budget: { bytes: 1_048_576, lines: null, policy: "drop-oldest" } as const,
    terminal: null,
    throttleBytesPerSecond: Infinity,
    redaction,
    outputLimitBytes: null,
  }
  const outputs = [{ stream: "stderr", output: pipe } as const]
  const recorder = new Recorder(outputs, transcript, settings, clock, {
    advanced: (bytes) => advances.push(bytes),
    blockedChanged: () => undefined,
    diskFull: () => undefined,
    outputLimit: () => undefined,
  })
  return { recorder, transcript, advances }
}

function patterns(text: string): Redaction {
  const compiled = compileRedaction([{ name: null, text }])
  if (!compiled.ok) throw new Error(compiled.failure[0]?.why)
  return compiled.value
}

describe("a recorder with patterns", () => {
  test("records what it held back when the pipe is given up on", async () => {
    const pipe = new HeldPipe("a sec", "ret, a sec")
    const { recorder, transcript, advances } = recording(pipe, patterns("secret"))

    await pipe.drained.promise
    const before = transcript.text
    await recorder.abandon()

    expect(before).toBe("a [redacted], a ")
    expect(transcript.text).toBe("a [redacted], a sec")
    expect(recorder.takenBytes).toBe(15) // as read from the child, whatever became of them
    expect(advances).toEqual([5, 10, 0])
    expect(recorder.redacted).toEqual({ stdout: 0, stderr: 1 })
  })

  test("counts a byte that it holds back as a sign of life, and records nothing", async () => {
    const pipe = new HeldPipe("s")
    const { recorder, transcript, advances } = recording(pipe, patterns("secret"))

    await pipe.drained.promise

    expect(transcript.text).toBe("")
    expect(advances).toEqual([1])
    await recorder.abandon()
  })
})

describe("a recorder whose transcript is short of a descriptor", () => {
  const noDescriptor = Object.assign(new Error("EMFILE"), { code: "EMFILE" })

  test("reads nothing more, and writes the rest when there is one", async () => {
    const clock = new ManualClock()
    const pipe = new HeldPipe("one, ", "two")
    const { recorder, transcript, advances } = recording(pipe, null, clock)
    transcript.shortage = noDescriptor

    await clock.pass(200)
    expect(transcript.text).toBe("one,")
    expect(recorder.isHeldUp).toBe(true)
    expect(advances).toEqual([])
    transcript.shortage = null
    await clock.pass(100)

    await pipe.drained.promise
    expect(transcript.text).toBe("one, two")
    expect(recorder.isHeldUp).toBe(false)
    expect(advances).toEqual([5, 3])
    await recorder.abandon()
  })

  test("breaks when that lasts for longer than a minute", async () => {
    const clock = new ManualClock()
    const { recorder, transcript } = recording(new HeldPipe("x".repeat(1000)), null, clock)
    transcript.shortage = noDescriptor
    const failed = recorder.failed.catch((error: unknown) => error)

    await clock.pass(61_000)

    expect(await failed).toBe(noDescriptor)
  })
})

describe("a text that is hard on the patterns", () => {
  test("holds nobody up for longer than a part of it", async () => {
    const clock = new ManualClock()
    const turns: string[] = []
    const slow = {
      count: 0,
      push(bytes: Uint8Array) {
        turns.push("part")
        setImmediate(() => turns.push("others"))
        clock.advance(10)
        return bytes
      },
      end: () => new Uint8Array(0),
      handOver: () => ({ count: 0, held: "", before: null, isInside: false }),
    }
    const untouched = { text: (text: string) => ({ text, count: 0 }) }
    const words = (some: readonly string[]) => ({ words: [...some], count: 0 })
    const redaction = { ...untouched, fingerprint: "", words, stream: () => slow }
    const pipe = new HeldPipe("x".repeat(150_000))
    const { recorder, transcript } = recording(pipe, redaction, clock)

    await pipe.drained.promise
    await recorder.abandon()

    expect(turns.slice(0, 5)).toEqual(["part", "others", "part", "others", "part"])
    expect(transcript.text).toHaveLength(150_000)
  })
})

describe("a recorder without patterns", () => {
  test("records what it reads", async () => {
    const pipe = new HeldPipe("a sec", "ret")
    const { recorder, transcript } = recording(pipe, null)

    await pipe.drained.promise
    await recorder.abandon()

    expect(transcript.text).toBe("a secret")
    expect(recorder.redacted).toEqual({ stdout: 0, stderr: 0 })
  })
})
