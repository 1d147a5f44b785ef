import { describe, expect, test } from "bun:test"
import { executionIdFrom } from "../../../../src/execution/id.ts"
import type { NotifyTarget } from "../../../../src/execution/notify-target.ts"
import { Notices } from "../../../../src/service/keeper/notifications/notices.ts"
import { openJournal } from "../../../../src/service/storage/journal/journal.ts"
import { openJournalReader } from "../../../../src/service/storage/journal/journal-reader.ts"
import { statePathsIn } from "../../../../src/service/storage/state-paths.ts"
import { emptied, labelled, live, queued, sampleTime, someReceipt } from "./sample-executions.ts"
import { rawRows, stillClock, succeeded, temporaryDirectory } from "./temporary-journal.ts"

const everything: NotifyTarget = {
  name: "all",
  way: { kind: "slack", url: { text: "http://127.0.0.1:9/" } },
  events: ["ended", "failed", "lost", "test"],
  rules: [{ principals: null, labels: {} }],
  usedBy: "everybody",
  include: [],
}
const red = {
  ...everything,
  name: "red",
  rules: [{ principals: ["alice"], labels: { team: "red" } }],
}

function opened(...targets: NotifyTarget[]) {
  const stack = new DisposableStack()
  const { path: directory } = stack.use(temporaryDirectory())
  const { journal: path } = statePathsIn(directory)
  const clock = stillClock()
  const newId = () => executionIdFrom(crypto.getRandomValues(new Uint8Array(16)))
  const notices = new Notices(targets, newId)
  const written: number[] = []
  notices.onWritten = (ordinal) => void written.push(ordinal)
  const journal = stack.use(succeeded(openJournal(path, clock, "at once", notices)))
  const reader = stack.use(succeeded(openJournalReader(path)))
  const due = (target = "all") => reader.outbox.due(target, 1e9, new Date(9e12), 1000)
  return { path, clock, journal, reader, due, written, [Symbol.dispose]: () => stack.dispose() }
}

function hoursAfter(hours: number): Date {
  return new Date(sampleTime.getTime() + hours * 3_600_000)
}

const failedAttempt = { at: sampleTime.toISOString(), took_ms: 3, status: null, why: "down" }

describe("an end", () => {
  test("is in the outbox with it, once for each target that is told of it", () => {
    using stage = opened(everything, red)
    const plain = live(stage.journal)
    const ours = live(stage.journal, labelled({ team: "red", name: "nightly" }))
    live(stage.journal, queued({ principal: "notify:all" }))

    expect(stage.due().map(({ notice }) => notice.about)).toEqual([plain.id, ours.id])
    expect(stage.due("red")).toMatchObject([
      { notice: { kind: "ended", about: ours.id, facts: { name: "nightly" } }, attempts: 0 },
    ])
    expect(stage.written).toEqual([1, 3])
  })

  test("that the journal does not take is told to nobody", () => {
    using stage = opened(everything)
    const ended = live(stage.journal)
    expect(() => stage.journal.end([emptied], ended, someReceipt)).toThrow("has ended there")
    const unknown = { ...ended, id: queued().id }
    expect(() => stage.journal.end([emptied], unknown, someReceipt)).toThrow("not in the journal")

    expect(stage.due().map(({ notice }) => notice.about)).toEqual([ended.id])
    expect(stage.written).toEqual([1])
  })

  test("costs nothing where nobody is told", () => {
    using stage = opened()
    live(stage.journal)
    expect(rawRows(stage.path, "SELECT count(*) AS rows FROM deliveries")).toEqual([{ rows: 0 }])
  })
})

describe("a delivery", () => {
  test("waits until its time, keeps its last attempts, and is settled once", () => {
    using stage = opened(everything)
    live(stage.journal)
    const [pending] = stage.due()
    const { id: delivery = "", target = "" } = pending ?? {}
    const again = { kind: "again", at: hoursAfter(1).toISOString() } as const
    const report = { delivery, target, attempt: { ...failedAttempt, result: "failed" as const } }
    for (let count = 0; count < 25; count += 1) {
      stage.journal.outbox.report([{ ...report, then: again }])
    }

    expect(stage.reader.outbox.due("all", 1e9, hoursAfter(0), 10)).toEqual([])
    expect(stage.reader.outbox.nextDueAt("all", 1e9)).toEqual(hoursAfter(1))
    const [waiting] = stage.reader.outbox.deliveries({ principal: null }, 10)
    expect(waiting?.view).toMatchObject({ state: "pending", attempt_count: 25 })
    expect(waiting?.view.attempts.map(({ number }) => number)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 6),
    )
    const settled = { kind: "settled", outcome: "delivered" } as const
    stage.journal.outbox.report([{ ...report, then: settled }])
    stage.journal.outbox.report([{ ...report, then: again }])
    const [done] = stage.reader.outbox.deliveries({ principal: null }, 10)
    expect(done?.view).toMatchObject({ state: "delivered", attempt_count: 26 })
  })

  test("is not due up to the last one that is safe", () => {
    using stage = opened(everything)
    live(stage.journal)
    live(stage.journal)
    expect(stage.reader.outbox.due("all", 1, hoursAfter(1), 10)).toHaveLength(1)
    expect(stage.journal.outbox.lastOrdinal()).toBe(2)
  })
})

describe("the outbox", () => {
  test("is bounded in age and number, and forgets what was settled long ago", () => {
    using stage = opened(everything)
    for (let count = 0; count < 7; count += 1) live(stage.journal)
    stage.clock.set(hoursAfter(2))
    for (let count = 0; count < 5; count += 1) live(stage.journal)
    const bounds = { createdBefore: hoursAfter(1), settledBefore: hoursAfter(0), mostPending: 3 }

    const givenUp = stage.journal.outbox.tidy(bounds)

    expect([...givenUp.expired]).toEqual([["all", 7]])
    expect([...givenUp.displaced]).toEqual([["all", 2]])
    expect([...stage.journal.outbox.pending()]).toEqual([["all", 3]])
    const states = stage.reader.outbox
      .deliveries({ principal: null }, 100)
      .map(({ view }) => view.state)
    expect(states.toReversed().join()).toMatch(/^(expired,){7}(displaced,){2}(pending,?){3}$/)
    stage.journal.outbox.tidy({ ...bounds, settledBefore: hoursAfter(3) })
    expect(stage.reader.outbox.deliveries({ principal: null }, 100)).toHaveLength(3)
  })

  test("is fresh while something waits, and the last one is not old", () => {
    using stage = opened(everything)
    const { outbox } = stage.journal
    expect(outbox.isFresh(hoursAfter(-1))).toBe(false)
    live(stage.journal)
    expect([outbox.isFresh(hoursAfter(-1)), outbox.isFresh(hoursAfter(1))]).toEqual([true, false])
  })

  test("outlives the executions that it tells of", () => {
    using stage = opened(everything)
    const { id } = live(stage.journal)
    stage.journal.remove(id)
    expect(stage.due()).toHaveLength(1)
  })
})
