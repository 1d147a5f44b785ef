import type { ExecutionId } from "../../execution/id.ts"
import { startOfTranscript, type TranscriptFacts } from "../../execution/record.ts"
import type { TerminalSize } from "../../execution/spec.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import { type Failure, failure } from "../../protocol/failure.ts"
import type { Screen, ScreenForm } from "../../protocol/screen.ts"
import { largestScreen } from "../../terminal/emulator/bounds.ts"
import { Emulator, type TerminalAnswer } from "../../terminal/emulator/emulator.ts"
import type { ReadPosition, TranscriptReader } from "../gateway/ports.ts"
import { readSnapshot, writeSnapshot } from "./snapshot.ts"

/** A snapshot is made after so much output, so that no more than this is ever read again. */
const betweenSnapshotsBytes = 4 * 1024 * 1024
/** Where there is no snapshot, what is older than this is not looked at. */
const mostReadBackBytes = 16 * 1024 * 1024
/** Shorter output is read again as quickly as a snapshot. */
const worthSnapshotBytes = 64 * 1024

/** Bytes times cells: of a usual screen, 64 KiB at a time. */
const stepWork = 64 * 1024 * 8000
const smallestStepBytes = 4 * 1024

export type ScreenAnswer = { at: number; text: string }

/** What was done in one step. */
export type Step =
  | { kind: "shown"; bytes: number; answers: ScreenAnswer[] }
  /** Everything that is known of is shown. */
  | { kind: "up-to-date" }
  | { kind: "unreadable"; why: string }

/** One terminal, brought up to date from its transcript piece by piece. */
export class KeptScreen implements Disposable {
  readonly id: ExecutionId
  readonly #transcripts: string
  readonly #reader: TranscriptReader
  readonly #size: TerminalSize
  #facts: TranscriptFacts
  /** What the program takes its terminal for; the emulator has none that is too large. */
  #programSize: TerminalSize
  #emulator: Emulator | null = null
  #position: ReadPosition = startPosition
  /** Before what the emulator holds back, or earlier. */
  #anchor: ReadPosition = startPosition
  #isComplete = true
  #sinceSnapshotBytes = 0
  #avoid: number | null

  constructor(
    terminal: { id: ExecutionId; size: TerminalSize; facts: TranscriptFacts },
    avoid: number | null,
    transcripts: string,
    reader: TranscriptReader,
  ) {
    this.id = terminal.id
    this.#size = terminal.size
    this.#programSize = terminal.size
    this.#facts = terminal.facts
    this.#avoid = avoid
    this.#transcripts = transcripts
    this.#reader = reader
  }

  /** Whether it takes memory. */
  get isAwake(): boolean {
    return this.#emulator !== null
  }

  /** Output before what comes next. */
  get sequence(): number {
    return this.#position.sequence
  }

  advanced(facts: TranscriptFacts): void {
    if (facts.end.sequence >= this.#facts.end.sequence) this.#facts = facts
  }

  /** Shows the next piece of output. */
  step(showing: (sequence: number) => void): Step {
    const emulator = this.#awake()
    const before = this.#position
    const most = mostStepBytes(emulator)
    const read = this.#reader.read(this.id, before, this.#facts, most, "with-sizes")
    switch (read.kind) {
      case "piece": {
        const { bytes, next } = read.piece
        const isAvoided = this.#isAvoided(before.sequence, next.sequence)
        showing(before.sequence)
        const answers = isAvoided ? [] : emulator.write(bytes)
        this.#position = next
        if (isAvoided || emulator.faults > 0) this.#isComplete = false
        this.#moveAnchor(before)
        this.#sinceSnapshotBytes += bytes.length
        if (this.#sinceSnapshotBytes >= betweenSnapshotsBytes) this.keep()
        const answered = answers.map((answer) => answerAt(before.sequence, answer))
        return { kind: "shown", bytes: bytes.length, answers: answered }
      }
      case "resized":
        emulator.resize(read.size)
        this.#programSize = read.size
        this.#position = read.next
        if (emulator.unfinishedBytes === 0) this.#anchor = read.next
        return { kind: "shown", bytes: 0, answers: [] }
      case "forgotten":
        this.#position = read.next
        this.#anchor = read.next
        this.#isComplete = false
        return { kind: "shown", bytes: 0, answers: [] }
      case "at-end":
        return { kind: "up-to-date" }
      case "damaged":
        return { kind: "unreadable", why: `the transcript is damaged: ${read.why}` }
      case "expired":
        return { kind: "unreadable", why: "the transcript is no longer kept" }
    }
  }

  /** What it shows now, and where output goes on after it. */
  screen(
    scrollback: number,
    form: ScreenForm,
  ): Result<{ screen: Screen; position: ReadPosition }, Failure> {
    const emulator = this.#awake()
    if (!isKept(this.#programSize, emulator)) return fail(tooLarge(this.#programSize))
    const position = this.#safePosition(emulator)
    if (position === null) return fail(failure("INTERNAL", "The transcript could not be read."))
    const { size, cursor, isAlternate: alternate, title, modes } = emulator
    const lines = Math.min(scrollback, emulator.scrollbackLines)
    const text = () => emulator.text(lines, form === "styled" ? "styled" : "plain").join("\n")
    const screen = {
      ...size,
      cursor,
      alternate,
      title,
      modes: {
        application_cursor_keys: modes.applicationCursorKeys,
        application_keypad: modes.applicationKeypad,
        bracketed_paste: modes.bracketedPaste,
        focus_events: modes.focusEvents,
        mouse: modes.mouse,
        mouse_encoding: modes.mouseEncoding,
      },
      scrollback: lines,
      data: form === "restore" ? emulator.restoreText(lines) : text(),
      complete: this.#isComplete,
    }
    return ok({ screen, position })
  }

  /** Makes a snapshot, if there is anything new that would take long to read again. */
  keep(worthBytes = worthSnapshotBytes): void {
    const emulator = this.#emulator
    if (emulator === null || this.#sinceSnapshotBytes < worthBytes) return
    const position = this.#safePosition(emulator)
    if (position === null) return
    this.#sinceSnapshotBytes = 0
    writeSnapshot(this.#transcripts, this.id, {
      position,
      size: this.#programSize,
      title: emulator.title,
      complete: this.#isComplete,
      text: emulator.restoreText(emulator.scrollbackLines),
    })
  }

  /** Takes no memory until it is needed again. */
  [Symbol.dispose](): void {
    this.keep()
    this.#emulator?.[Symbol.dispose]()
    this.#emulator = null
  }

  #awake(): Emulator {
    this.#emulator ??= this.#wake()
    return this.#emulator
  }

  #wake(): Emulator {
    const facts = this.#facts
    const snapshot = readSnapshot(this.#transcripts, this.id, facts)
    this.#programSize = snapshot?.size ?? this.#size
    const emulator = new Emulator(this.#programSize)
    this.#sinceSnapshotBytes = 0
    if (snapshot !== null) {
      emulator.restore(snapshot.text, snapshot.title)
      this.#position = snapshot.position
      this.#isComplete = snapshot.complete
    } else {
      const backBytes = facts.end.sequence - facts.start.sequence
      const isWhole = backBytes <= mostReadBackBytes
      this.#position = isWhole
        ? { ...facts.start, inside: 0 }
        : this.#reader.tail(this.id, facts, { bytes: mostReadBackBytes })
      this.#isComplete = isWhole && facts.start.sequence === 0
    }
    this.#anchor = this.#position
    return emulator
  }

  #isAvoided(from: number, to: number): boolean {
    const isAvoided = this.#avoid !== null && this.#avoid >= from && this.#avoid < to
    if (isAvoided) this.#avoid = null
    return isAvoided
  }

  #moveAnchor(before: ReadPosition): void {
    const unfinished = this.#emulator?.unfinishedBytes ?? 0
    if (unfinished === 0) this.#anchor = this.#position
    else if (this.#position.sequence - unfinished >= before.sequence) this.#anchor = before
  }

  /** Behind the last whole sequence that is shown: whoever goes on from there misses nothing. */
  #safePosition({ unfinishedBytes }: Emulator): ReadPosition | null {
    const target = this.#position.sequence - unfinishedBytes
    let at = this.#anchor
    while (at.sequence < target) {
      const mostBytes = target - at.sequence
      const read = this.#reader.read(this.id, at, this.#facts, mostBytes)
      if (read.kind !== "piece") return null
      at = read.piece.next
    }
    return at
  }
}

const startPosition: ReadPosition = { ...startOfTranscript, inside: 0 }

/** Erasing a large screen takes long, and a few bytes are enough to ask for it. */
function mostStepBytes({ size: { cols, rows } }: Emulator): number {
  return Math.max(smallestStepBytes, Math.min(64 * 1024, Math.floor(stepWork / (cols * rows))))
}

function isKept({ cols, rows }: TerminalSize, { size }: Emulator): boolean {
  return cols <= size.cols && rows <= size.rows
}

function tooLarge({ cols, rows }: TerminalSize): Failure {
  const message =
    `Its terminal has ${cols}×${rows} cells: no screen is kept of one with more than ` +
    `${largestScreen}. Make it smaller, or read its output from a cursor.`
  return failure("WRONG_STATE", message)
}

function answerAt(sequence: number, { after, text }: TerminalAnswer): ScreenAnswer {
  return { at: sequence + after, text }
}
