import type { NewDelivery } from "../../../execution/delivery.ts"
import type { ExecutionId } from "../../../execution/id.ts"
import {
  type Notice,
  noticeOfEnd,
  noticeOfTrial,
  noticesOfSession,
} from "../../../execution/notice.ts"
import {
  isOfTarget,
  isTold,
  type NotifyTarget,
  type TargetName,
} from "../../../execution/notify-target.ts"
import { type ExecutionRecord, hasEnded } from "../../../execution/record.ts"
import type { TrialVerdict } from "../../../execution/trial/announcement.ts"
import type { RecordedTrial } from "../../../execution/trial/recorded-trial.ts"
import type { NoticeSource } from "../outbox.ts"

/** Decides who is told of what, by what the configuration and the requests say. */
export class Notices implements NoticeSource {
  readonly #targets: readonly NotifyTarget[]
  readonly #newId: () => ExecutionId
  /** Set once there is somebody who delivers. */
  onWritten: (ordinal: number) => void = () => undefined

  constructor(targets: readonly NotifyTarget[], newId: () => ExecutionId) {
    this.#targets = targets
    this.#newId = newId
  }

  get isActive(): boolean {
    return this.#targets.length > 0
  }

  ofChange(before: ExecutionRecord | null, record: ExecutionRecord): NewDelivery[] {
    if (isOfTarget(record)) return []
    const isSession = record.spec.agent !== undefined
    const ofSession = isSession ? noticesOfSession(before?.agent ?? null, record) : []
    const ofEnd = hasEnded(record) ? noticeOfEnd(record) : null
    const notices = ofEnd === null ? ofSession : [...ofSession, ofEnd]
    if (notices.length === 0) return []
    const { labels, notify = [] } = record.spec
    return this.#deliveries(notices, labels, notify)
  }

  /** Who is named by a step is told of the trial. */
  ofVerdict(
    { announcement }: RecordedTrial,
    verdict: TrialVerdict,
    records: () => ExecutionRecord[],
  ): NewDelivery[] {
    const notice = noticeOfTrial(announcement, verdict)
    if (notice === null) return []
    const specs = records().map(({ spec }) => spec)
    const labels = Object.fromEntries(specs.flatMap((spec) => Object.entries(spec.labels)))
    return this.#deliveries(
      [notice],
      labels,
      specs.flatMap(({ notify = [] }) => notify),
    )
  }

  /** Somebody wants to see whether a target can be reached; null where there is none. */
  ofTest(target: TargetName, principal: string): NewDelivery | null {
    if (!this.#targets.some(({ name }) => name === target)) return null
    const id = this.#newId()
    const facts = { name: null }
    return { id, target, notice: { kind: "test", about: id, principal, subject: "", facts } }
  }

  written(ordinal: number): void {
    this.onWritten(ordinal)
  }

  #deliveries(
    notices: readonly Notice[],
    labels: Readonly<Record<string, string>>,
    named: readonly string[],
  ): NewDelivery[] {
    return notices.flatMap((notice) =>
      this.#targets
        .filter((target) => isTold(target, notice, { ...notice, labels }, named))
        .map(({ name: target }) => ({ id: this.#newId(), target, notice })),
    )
  }
}
