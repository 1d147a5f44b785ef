import type { AttemptReport } from "../../../execution/delivery.ts"
import type { ExecutionId } from "../../../execution/id.ts"
import type { NotifySettings, NotifyTarget } from "../../../execution/notify-target.ts"
import { delay } from "../../../lib/delay.ts"
import { messageOf } from "../../../lib/errno.ts"
import type { Log } from "../../../lib/log.ts"
import type { KeeperLink } from "../operations/keeper-link.ts"
import type { PendingDelivery } from "../outbox-port.ts"
import type { JournalReader, TranscriptReader } from "../ports.ts"
import { type Attempted, failed } from "./attempt.ts"
import { detailsOf } from "./details.ts"
import { postFor } from "./forms.ts"
import { httpPost } from "./http-post.ts"
import { type Message, messageFor } from "./message.ts"
import { runCommand } from "./run-command.ts"
import { TargetQueue } from "./target-queue.ts"

/** To one target, of different executions. */
const mostPostsAtOnce = 4
/** What an attempt leaves behind, beside its message. */
const attemptBytes = 16 * 1024
/** Written down in one transaction. */
const mostReports = 100
/** What comes of other attempts meanwhile is written down with the first. */
const gatherMs = 20
const retryReportMs = 1000

export type CourierPorts = {
  settings: NotifySettings
  link: Pick<KeeperLink, "call">
  journal: Pick<JournalReader, "find" | "outbox">
  transcripts: Pick<TranscriptReader, "read" | "tail">
  log: Log
  now: () => Date
  after: (delayMs: number, run: () => void) => Disposable
  random: () => number
  /** Where the service itself can be reached, for links; null where it has no port. */
  ownUrl: () => string | null
  /** Whether the page at `/` is there. */
  servesConsole: boolean
  reportGarbage: (bytes: number) => void
}

type WaitingReport = { report: AttemptReport; written: () => void }

/** Delivers what the outbox has. All that it knows is in the journal: it may die at any moment. */
export class Courier {
  readonly #ports: CourierPorts
  readonly #targets: ReadonlyMap<string, { target: NotifyTarget; queue: TargetQueue }>
  readonly #ended = new AbortController()
  #reports: WaitingReport[] = []
  #isReporting = false
  #upTo = 0

  constructor(ports: CourierPorts) {
    this.#ports = ports
    const { targets } = ports.settings
    this.#targets = new Map(
      targets.map((target) => [target.name, { target, queue: this.#queueOf(target) }]),
    )
  }

  /** Begins with what the outbox has; resolves when that is under way. */
  async begin(): Promise<void> {
    const synced = await this.#ports.link.call("syncOutbox", {})
    this.wake(synced.ok ? synced.value.ordinal : 0)
  }

  /** Up to this one, what is in the outbox may be delivered. */
  wake(upTo: number): void {
    this.#upTo = Math.max(this.#upTo, upTo)
    for (const { queue } of this.#targets.values()) queue.wake()
  }

  failingSince(target: string): Date | null {
    return this.#targets.get(target)?.queue.failingSince ?? null
  }

  /** Delivers one at once; resolves when that was tried and is on record. */
  async sendNow(id: ExecutionId): Promise<void> {
    const delivery = this.#ports.journal.outbox.pendingDelivery(id)
    if (delivery !== null) await this.#targets.get(delivery.target)?.queue.sendNow(delivery)
  }

  close(): void {
    this.#ended.abort()
    for (const { queue } of this.#targets.values()) queue.close()
  }

  #queueOf(target: NotifyTarget): TargetQueue {
    const { journal, log, now, after, random } = this.#ports
    const mostAtOnce = target.way.kind === "command" ? 1 : mostPostsAtOnce
    return new TargetQueue(target.name, mostAtOnce, {
      outbox: journal.outbox,
      upTo: () => this.#upTo,
      attempt: (delivery) => this.#attempt(target, delivery),
      report: (report) => this.#report(report),
      now,
      after,
      random,
      changed(failingSince, why) {
        const { name } = target
        if (failingSince === null) log.info({ target: name }, "notifications arrive again")
        else log.warn({ target: name, why }, "notifications do not arrive; trying again later")
      },
    })
  }

  async #attempt(target: NotifyTarget, delivery: PendingDelivery): Promise<Attempted> {
    try {
      const message = this.#message(target, delivery)
      const { way } = target
      const { signal } = this.#ended
      if (way.kind === "command") {
        return await runCommand(way.argv, message, delivery, this.#ports, signal)
      }
      const post = postFor(way, message, delivery, this.#ports.now())
      this.#ports.reportGarbage(attemptBytes + (post.ok ? post.value.body.length : 0))
      return post.ok ? await httpPost(post.value, signal) : failed(post.failure)
    } catch (error) {
      // A message that cannot be made must not keep the others from being sent.
      this.#ports.log.error({ err: error, delivery: delivery.id }, "notification failed")
      return failed(`internal: ${messageOf(error)}`)
    }
  }

  #message({ include }: NotifyTarget, delivery: PendingDelivery): Message {
    const { journal, transcripts, settings, ownUrl, servesConsole } = this.#ports
    const { kind, about } = delivery.notice
    // An end needs no look at the record, where nothing of it is asked for.
    const isPlainEnd = include.length === 0 && (kind === "ended" || kind === "failed")
    const isOfExecution = kind !== "test" && kind !== "verification-broken"
    const record = isOfExecution && !isPlainEnd ? journal.find(about) : null
    const details = record === null ? {} : detailsOf(include, delivery, record, transcripts)
    const baseUrl = settings.baseUrl ?? ownUrl()
    // The page is at the root of its host, and nowhere else.
    const leadToConsole = servesConsole && baseUrl !== null && new URL(baseUrl).pathname === "/"
    const links = baseUrl === null ? null : { baseUrl, leadToConsole }
    return messageFor(delivery, { record, details, links })
  }

  #report(report: AttemptReport): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#reports.push({ report, written: resolve })
    if (!this.#isReporting) void this.#writeReports()
    return promise
  }

  /** Several at once. Until they are written, none of those is sent again, nor what follows it. */
  async #writeReports(): Promise<void> {
    this.#isReporting = true
    await delay(gatherMs, this.#ended.signal)
    while (this.#reports.length > 0) {
      const batch = this.#reports.splice(0, mostReports)
      const reports = batch.map(({ report }) => report)
      while (!(await this.#ports.link.call("reportAttempts", { reports })).ok) {
        if (this.#ended.signal.aborted) return
        await delay(retryReportMs, this.#ended.signal)
      }
      for (const { written } of batch) written()
    }
    this.#isReporting = false
  }
}
