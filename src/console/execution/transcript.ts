import { type Signal, signal } from "@preact/signals"
import type { Client } from "../../client/connect.ts"
import { delay } from "../../lib/delay.ts"
import { messageOf } from "../../lib/errno.ts"
import { ignoreUnhandledRejection } from "../../lib/ignore-unhandled-rejection.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import type { ResultOf } from "../../protocol/methods.ts"
import { type Row, RowReader, weightOf } from "./transcript-rows.ts"

type Page = ResultOf<"transcript.read">

const pageBytes = 128 * 1024
/** Where more has come than can be read, the newest is shown; the rest can be scrolled to. */
const newestBytes = 32 * 1024
/** How many lines before those that are looked at are fetched with them. */
const marginLines = 100
/** Lines of one page: what is far from those that are looked at is not kept. */
const mostFetched = 20 * marginLines
/** In characters. */
const mostKept = 3_000_000
const followEveryMs = 200
const lookEveryMs = 1_000

/**
 * The output of one execution, as far as somebody looks at it. Lines have numbers, so what is
 * fetched twice is shown once, and what was never fetched is missing in its place alone.
 */
export class Transcript implements Disposable {
  /** Grows with everything that changes what is shown. */
  readonly version = signal(0)
  /** How many lines there are, with one that has no end yet. */
  readonly lines = signal(0)
  readonly view: Signal<ExecutionView>
  readonly failure: Signal<string | null> = signal(null)
  /** Whether the newest is wanted as it comes. */
  isFollowing = true
  readonly #client: Client
  readonly #id: string
  readonly #rows = new Map<number, Row>()
  readonly #closed = new AbortController()
  #kept = 0
  #wanted = { first: 0, last: 0 }
  #isFetching = false
  #tail: { reader: RowReader; next: string } | null = null

  constructor(client: Client, view: ExecutionView) {
    this.#client = client
    this.#id = view.execution_id
    this.view = signal(view)
    this.lines.value = linesOf(view)
    ignoreUnhandledRejection(this.#run())
  }

  [Symbol.dispose](): void {
    this.#closed.abort()
  }

  /** The first line that is still kept. */
  get firstLine(): number {
    return Math.min(this.view.value.dropped.lines, this.lines.value)
  }

  /** What others were told: that it has ended is known before it is asked. */
  told(view: ExecutionView): void {
    if (view.state !== "ended") return
    this.view.value = view
    this.lines.value = Math.max(this.lines.value, linesOf(view))
  }

  row(line: number): Row | undefined {
    return this.#rows.get(line)
  }

  /** What is looked at now: it is fetched where it is missing. */
  want(first: number, last: number): void {
    this.#wanted = { first, last }
    if (this.#isFetching || this.#closed.signal.aborted) return
    const missing = this.#firstMissing()
    if (missing === null) return
    this.#isFetching = true
    const fetched = this.#fetch(missing).catch((error: unknown) => this.#fail(error))
    ignoreUnhandledRejection(
      fetched.finally(() => {
        this.#isFetching = false
        this.#changed()
      }),
    )
  }

  /** The number of the first line that was written at a time or after it. */
  async lineAt(time: Date): Promise<number> {
    return this.#lineFrom(`since:${time.toISOString()}`)
  }

  async #lineFrom(from: string): Promise<number> {
    const page = await this.#read(from, 1)
    return page.chunks[0]?.line ?? this.lines.value
  }

  #read(from: string, limit_bytes: number): Promise<Page> {
    return this.#client.call("transcript.read", { execution_id: this.#id, from, limit_bytes })
  }

  #firstMissing(): number | null {
    const { first, last } = this.#wanted
    const end = Math.min(last, this.lines.value - 1)
    for (let line = Math.max(first, this.firstLine); line <= end; line += 1) {
      if (this.#isMissing(line)) return this.#marginBefore(line)
    }
    return null
  }

  /** Of a line that was met at the end of everything, the beginning may be missing. */
  #isMissing(line: number): boolean {
    return this.#rows.get(line)?.isCutBefore !== false
  }

  /** Those before it are fetched with it, as far as they are missing, too. */
  #marginBefore(line: number): number {
    let first = line
    while (first > Math.max(this.firstLine, line - marginLines) && this.#isMissing(first - 1)) {
      first -= 1
    }
    return first
  }

  async #fetch(from: number): Promise<void> {
    const page = await this.#read(`line:${from}`, pageBytes)
    const reader = new RowReader(false)
    const rows = reader.read(page.chunks).slice(0, mostFetched) // they may be of one character
    // What was cut by the end of the page is longer than a page, or comes with the next one.
    const { open } = reader
    const isAlone = rows.length === 0
    const isNext = rows.length < mostFetched
    if (open !== null && isNext && (isAlone || page.more !== true)) rows.push(open)
    for (const row of rows) this.#keep(row)
    this.#forgetFarOnes()
    if (rows.length === 0) this.lines.value = Math.min(this.lines.value, from)
    const first = rows[0]?.line ?? from
    // What is not there any more was dropped meanwhile.
    if (first > from) await this.#look()
  }

  #keep(row: Row): void {
    const before = this.#rows.get(row.line)
    // A line that was seen from its beginning on is not replaced by its end.
    if (before !== undefined && !before.isCutBefore && row.isCutBefore) return
    this.#kept += weightOf(row) - (before === undefined ? 0 : weightOf(before))
    this.#rows.set(row.line, row)
  }

  #forgetFarOnes(): void {
    if (this.#kept <= mostKept) return
    const { first, last } = this.#wanted
    for (const [line, row] of this.#rows) {
      const isNear = line >= first - 2 * marginLines && line <= last + 2 * marginLines
      if (isNear || line > this.lines.value - 4 * marginLines) continue
      this.#rows.delete(line)
      this.#kept -= weightOf(row)
    }
  }

  async #run(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      try {
        await this.#step()
        this.failure.value = null
      } catch (error) {
        this.#fail(error)
        if (this.view.value.state === "ended") return
      }
      await delay(this.isFollowing ? followEveryMs : lookEveryMs, this.#closed.signal)
    }
  }

  async #step(): Promise<void> {
    // Nobody looks: then nothing is asked.
    if (document.hidden && this.#tail !== null) return
    if (!this.isFollowing) {
      this.#tail = null
      if (this.view.value.state !== "ended") await this.#look()
      return
    }
    const isOver = await this.#readTail()
    this.#changed()
    if (!isOver || this.view.value.state !== "ended") return
    this.isFollowing = false
  }

  /** True when nothing will ever follow. */
  async #readTail(): Promise<boolean> {
    this.#tail ??= await this.#newest()
    const page = await this.#read(this.#tail.next, pageBytes)
    if (page.gap !== undefined || page.more === true) {
      this.#tail = await this.#newest()
      return false
    }
    this.#take(this.#tail.reader, page)
    this.#tail = { ...this.#tail, next: page.next }
    if (page.ended) await this.#look()
    return page.ended
  }

  async #newest(): Promise<{ reader: RowReader; next: string }> {
    const page = await this.#read(`tail-bytes:${newestBytes}`, 2 * newestBytes)
    const reader = new RowReader((page.chunks[0]?.sequence ?? 0) > 0)
    this.#take(reader, page)
    return { reader, next: page.next }
  }

  #take(reader: RowReader, page: Page): void {
    const rows = reader.read(page.chunks)
    const { open } = reader
    // Of a flood, only the end is looked at.
    for (const row of rows.slice(-4 * marginLines)) this.#keep(row)
    if (open !== null) this.#keep({ ...open, parts: open.parts.map((part) => ({ ...part })) })
    const last = open ?? rows.at(-1)
    if (last !== undefined) this.lines.value = Math.max(this.lines.value, last.line + 1)
    this.#forgetFarOnes()
  }

  async #look(): Promise<void> {
    this.view.value = await this.#client.call("status", { execution_id: this.#id })
    this.lines.value = Math.max(this.lines.value, linesOf(this.view.value))
    this.#changed()
  }

  #fail(error: unknown): void {
    this.failure.value = messageOf(error)
  }

  #changed(): void {
    if (!this.#closed.signal.aborted) this.version.value += 1
  }
}

function linesOf({ lines }: ExecutionView): number {
  return lines.stdout + lines.stderr
}
