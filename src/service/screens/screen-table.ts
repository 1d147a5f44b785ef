import { setImmediate } from "node:timers/promises"
import type { ExecutionId } from "../../execution/id.ts"
import { AutoResetEvent } from "../../lib/auto-reset-event.ts"
import { failure } from "../../protocol/failure.ts"
import type { FromScreens, Terminal, ToScreens } from "../../protocol/screens-ipc.ts"
import type { TranscriptReader } from "../gateway/ports.ts"
import { KeptScreen } from "./kept-screen.ts"

/** Terminals in memory; of more, those that show nothing new wait as snapshots. */
const mostAwake = 32

/** What the emulator leaves behind for each byte that it is shown. */
const garbagePerByte = 4
const worthClearingBytes = 1024 * 1024
const flood = 1024 * 1024 * 1024

type Asked = Extract<ToScreens, { kind: "ask" }>

type Entry = {
  screen: KeptScreen
  /** Kept up to date, or only asked about. */
  isFollowed: boolean
  isUpToDate: boolean
  asked: Asked[]
}

/** All terminals of the service: each is shown a piece at a time, in turns. */
export class ScreenTable {
  readonly #transcripts: string
  readonly #reader: TranscriptReader
  readonly #tell: (message: FromScreens) => void
  readonly #reportGarbage: (bytes: number) => void
  readonly #entries = new Map<ExecutionId, Entry>()
  #sinceRestBytes = 0
  readonly #news = new AutoResetEvent()

  constructor(
    transcripts: string,
    reader: TranscriptReader,
    tell: (message: FromScreens) => void,
    reportGarbage: (bytes: number) => void,
  ) {
    this.#transcripts = transcripts
    this.#reader = reader
    this.#tell = tell
    this.#reportGarbage = reportGarbage
  }

  receive(message: ToScreens): void {
    switch (message.kind) {
      case "follow": {
        const entry = this.#entry(message, message.avoid)
        entry.isFollowed = true
        break
      }
      case "advance": {
        const entry = this.#entries.get(message.id)
        entry?.screen.advanced(message.facts)
        if (entry !== undefined) entry.isUpToDate = false
        break
      }
      case "leave": {
        const entry = this.#entries.get(message.id)
        if (entry !== undefined) entry.isFollowed = false
        break
      }
      case "ask": {
        const entry = this.#entry(message, null)
        entry.screen.advanced(message.facts)
        entry.isUpToDate = false
        entry.asked.push(message)
        break
      }
      case "ping":
        this.#tell({ kind: "pong" })
        return
    }
    this.#news.set()
  }

  async run(): Promise<never> {
    for (;;) {
      if (this.#workOnce()) {
        await setImmediate()
      } else {
        // While nothing is to be done, what is left of a flood can be cleared away.
        if (this.#sinceRestBytes > worthClearingBytes) this.#reportGarbage(flood)
        this.#sinceRestBytes = 0
        this.#tell({ kind: "rests" })
        await this.#news.wait()
      }
    }
  }

  #entry(terminal: Terminal, avoid: number | null): Entry {
    const known = this.#entries.get(terminal.id)
    if (known !== undefined) return known
    const screen = new KeptScreen(terminal, avoid, this.#transcripts, this.#reader)
    const entry: Entry = { screen, isFollowed: false, isUpToDate: false, asked: [] }
    this.#entries.set(terminal.id, entry)
    return entry
  }

  /** One piece of each that is behind; whether there was any. */
  #workOnce(): boolean {
    let hasWorked = false
    for (const [id, entry] of this.#entries) {
      if (!entry.isUpToDate) {
        hasWorked = true
        this.#show(id, entry)
      }
      if (entry.isUpToDate && !entry.isFollowed) {
        this.#entries.delete(id)
        entry.screen[Symbol.dispose]()
      }
    }
    return hasWorked
  }

  #show(id: ExecutionId, entry: Entry): void {
    if (!entry.screen.isAwake) this.#makeRoom()
    const step = entry.screen.step((sequence) => this.#tell({ kind: "showing", id, sequence }))
    // Who was shown something last is the last to be put to sleep.
    this.#entries.delete(id)
    this.#entries.set(id, entry)
    switch (step.kind) {
      case "shown":
        this.#reportGarbage(step.bytes * garbagePerByte)
        this.#sinceRestBytes += step.bytes
        if (step.answers.length > 0) this.#answer(id, step.answers)
        return
      case "up-to-date":
        entry.isUpToDate = true
        for (const asked of entry.asked.splice(0)) this.#tellScreen(entry.screen, asked)
        return
      case "unreadable": {
        entry.isUpToDate = true
        const message = `The screen cannot be shown: ${step.why}.`
        for (const { request } of entry.asked.splice(0)) {
          this.#tell({ kind: "refusal", request, failure: failure("INTERNAL", message) })
        }
      }
    }
  }

  #answer(id: ExecutionId, answers: readonly { at: number; text: string }[]): void {
    const encoded = answers.map(({ at, text }) => ({
      at,
      data: Buffer.from(text).toString("base64"),
    }))
    this.#tell({ kind: "answers", id, answers: encoded })
  }

  #tellScreen(screen: KeptScreen, { request, scrollback, form }: Asked): void {
    const shown = screen.screen(scrollback, form)
    if (!shown.ok) return this.#tell({ kind: "refusal", request, failure: shown.failure })
    this.#reportGarbage(shown.value.screen.data.length)
    this.#tell({ kind: "screen", request, ...shown.value })
  }

  #makeRoom(): void {
    const awake = [...this.#entries.values()].filter(({ screen }) => screen.isAwake)
    if (awake.length < mostAwake) return
    const [idle] = awake.filter(({ isUpToDate }) => isUpToDate)
    const longest = idle ?? awake[0]
    longest?.screen[Symbol.dispose]()
  }
}
