import type { ExecutionId } from "../../../execution/id.ts"
import { type ExecutionRecord, hasEnded, type TranscriptFacts } from "../../../execution/record.ts"
import type { Log } from "../../../lib/log.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { FromScreens } from "../../../protocol/screens-ipc.ts"
import type {
  ScreenAt,
  ScreenQuestion,
  Screens,
  ScreensProcess,
  StartScreensProcess,
} from "../screen-ports.ts"
import type { KeeperLink } from "./keeper-link.ts"
import type { FollowReader, LiveExecutions } from "./live-executions.ts"

const lookEveryMs = 1000
/** A piece of 64 KiB takes milliseconds; one that takes so long never ends. */
const silenceMs = 15_000
/** Without a terminal to keep, for so long, it is let go. */
const idleMs = 30_000
const mostResidentBytes = 384 * 1024 * 1024
/** A process that cannot be kept alive is not started again and again. */
const restartEveryMs = 1000

type Asked = { resolve(answer: Result<ScreenAt, Failure>): void }

type Kept = { record: ExecutionRecord; facts: TranscriptFacts; reading: Disposable }

/** Screens, kept by a process of their own: it runs while there is a terminal, and may die. */
export class KeptScreens implements Screens, Disposable {
  readonly #start: StartScreensProcess
  readonly #live: LiveExecutions
  readonly #link: () => KeeperLink
  readonly #log: Pick<Log, "warn">
  readonly #kept = new Map<ExecutionId, Kept>()
  readonly #opening = new Set<ExecutionId>()
  readonly #asked = new Map<number, Asked>()
  /** What a process was showing when it died, or had to. */
  readonly #avoid = new Map<ExecutionId, number>()
  #process: ScreensProcess | null = null
  #watch: ReturnType<typeof setInterval> | null = null
  #showing: { id: ExecutionId; sequence: number } | null = null
  #lastHeardMs = 0
  #lastNeededMs = 0
  #lastStartMs = -Infinity
  #requests = 0
  #isClosed = false

  constructor(
    start: StartScreensProcess,
    live: LiveExecutions,
    link: () => KeeperLink,
    log: Pick<Log, "warn">,
  ) {
    this.#start = start
    this.#live = live
    this.#link = link
    this.#log = log
  }

  follow(record: ExecutionRecord): void {
    const { id } = record
    const isKept = this.#kept.has(id) || this.#opening.has(id)
    if (record.spec.terminal === null || hasEnded(record) || isKept) return
    this.#opening.add(id)
    void this.#open(id).finally(() => this.#opening.delete(id))
  }

  /** Those that were started before this gateway. */
  async followLive(): Promise<void> {
    const answer = await this.#link().call("live", {})
    if (answer.ok && !this.#isClosed) for (const record of answer.value.records) this.follow(record)
  }

  async screenOf(
    record: ExecutionRecord,
    facts: TranscriptFacts,
    question: ScreenQuestion,
  ): Promise<Result<ScreenAt, Failure>> {
    const { id, spec, state } = record
    const size = spec.terminal
    if (size === null) {
      const message = "It does not run on a terminal: there is no screen, read its output instead."
      return fail(failure("WRONG_STATE", message, { state: state.kind }))
    }
    this.#requests += 1
    const request = this.#requests
    const { promise, resolve } = Promise.withResolvers<Result<ScreenAt, Failure>>()
    this.#asked.set(request, { resolve })
    this.#running().send({ kind: "ask", request, id, size, facts, ...question })
    return promise
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    for (const { reading } of this.#kept.values()) reading[Symbol.dispose]()
    this.#kept.clear()
    this.#stop()
  }

  async #open(id: ExecutionId): Promise<void> {
    using _opening = this.#live.opening(id)
    const followed = await this.#live.follow(id)
    if (this.#isClosed || !followed.ok || followed.value === null) return
    const { record, transcript: facts } = followed.value
    if (hasEnded(record)) return
    const current = followed.value
    const reader: FollowReader = {
      advanced: () => this.#advanced(id, current.transcript),
      changed: (changed) => {
        this.#advanced(id, current.transcript)
        if (hasEnded(changed)) this.#leave(id)
      },
    }
    const kept = { record, facts, reading: this.#live.read(current, reader) }
    this.#kept.set(id, kept)
    const isNew = this.#process === null
    const running = this.#running() // a new one is told of everything that is kept
    if (!isNew) this.#tellOf(running, kept)
  }

  #advanced(id: ExecutionId, facts: TranscriptFacts): void {
    const kept = this.#kept.get(id)
    if (kept === undefined) return
    kept.facts = facts
    this.#running().send({ kind: "advance", id, facts })
  }

  #leave(id: ExecutionId): void {
    this.#kept.get(id)?.reading[Symbol.dispose]()
    this.#kept.delete(id)
    this.#avoid.delete(id)
    this.#process?.send({ kind: "leave", id })
  }

  #tellOf(running: ScreensProcess, { record, facts }: Kept): void {
    const { id, spec } = record
    if (spec.terminal === null) return
    const avoid = this.#avoid.get(id) ?? null
    running.send({ kind: "follow", id, size: spec.terminal, facts, avoid })
  }

  #running(): ScreensProcess {
    this.#lastNeededMs = performance.now()
    if (this.#process !== null) return this.#process
    const nowMs = performance.now()
    this.#lastStartMs = nowMs
    this.#lastHeardMs = nowMs
    const started = this.#start((message) => this.#received(message))
    this.#process = started
    this.#watch ??= setInterval(() => this.#look(), lookEveryMs)
    this.#watch.unref()
    void started.exited.then(() => this.#exited(started))
    for (const kept of this.#kept.values()) this.#tellOf(started, kept)
    return started
  }

  #received(message: FromScreens): void {
    this.#lastHeardMs = performance.now()
    switch (message.kind) {
      case "showing":
        this.#showing = message
        return
      case "rests":
        this.#showing = null
        return
      case "answers":
        void this.#link().call("answerQueries", {
          executionId: message.id,
          answers: message.answers,
        })
        return
      case "screen": {
        const { screen, position, request } = message
        return this.#settle(request, ok({ screen, position }))
      }
      case "refusal":
        return this.#settle(message.request, fail(message.failure))
      case "pong":
        return
    }
  }

  #settle(request: number, answer: Result<ScreenAt, Failure>): void {
    this.#asked.get(request)?.resolve(answer)
    this.#asked.delete(request)
  }

  /** Whether it still does what it should; a process that is not needed is let go. */
  #look(): void {
    const nowMs = performance.now()
    const running = this.#process
    if (running === null) return
    if (this.#kept.size === 0 && this.#asked.size === 0 && nowMs - this.#lastNeededMs > idleMs) {
      return this.#stop()
    }
    const residentBytes = running.residentBytes() ?? 0
    const isTooLarge = residentBytes > mostResidentBytes
    if (isTooLarge) this.#showing = null // it is all of them together
    if (isTooLarge || nowMs - this.#lastHeardMs > silenceMs) {
      this.#log.warn({ residentBytes, ...this.#showing }, "screens: process ended, it is stuck")
      running.kill()
    } else {
      running.send({ kind: "ping" })
    }
  }

  #stop(): void {
    const running = this.#process
    this.#process = null
    if (this.#watch !== null) clearInterval(this.#watch)
    this.#watch = null
    running?.kill()
  }

  #exited(process: ScreensProcess): void {
    if (this.#process !== process) return
    this.#process = null
    const showing = this.#showing
    this.#showing = null
    if (showing !== null) this.#avoid.set(showing.id, showing.sequence)
    this.#log.warn({ ...showing }, "screens: process has exited; starting it again")
    const message = "The process that keeps screens has died: ask again."
    const lost = fail(failure("INTERNAL", message, { retry_after: 1 }))
    for (const request of this.#asked.keys()) this.#settle(request, lost)
    const waitMs = Math.max(0, this.#lastStartMs + restartEveryMs - performance.now())
    setTimeout(() => {
      if (!this.#isClosed && this.#kept.size > 0) this.#running()
    }, waitMs).unref()
  }
}
