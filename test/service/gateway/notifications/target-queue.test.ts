import { describe, expect, test } from "bun:test"
import type { AttemptReport } from "../../../../src/execution/delivery.ts"
import {
  type Attempted,
  delivered,
  failed,
  refused,
} from "../../../../src/service/gateway/notifications/attempt.ts"
import { TargetQueue } from "../../../../src/service/gateway/notifications/target-queue.ts"
import type { PendingDelivery } from "../../../../src/service/gateway/outbox-port.ts"
import { ManualClock } from "../../../support/manual-clock.ts"

type Row = PendingDelivery & { ordinal: number; nextAtMs: number | null }

/** A queue on an outbox in memory, and a target that does as the test says. */
class Stage {
  readonly clock = new ManualClock()
  readonly rows: Row[] = []
  readonly sent: string[] = []
  readonly reports: AttemptReport[] = []
  readonly told: Array<string | null> = []
  most = 0
  #underWay = 0
  answer: (delivery: PendingDelivery) => Attempted | Promise<Attempted> = () => delivered(200)
  readonly queue = new TargetQueue("hook", 4, {
    outbox: {
      due: (_, upTo, now, most) =>
        this.#first(upTo)
          .filter(({ nextAtMs }) => nextAtMs !== null && nextAtMs <= now.getTime())
          .slice(0, most),
      nextDueAt: (_, upTo) => {
        const times = this.#first(upTo).map(({ nextAtMs }) => nextAtMs ?? 0)
        return times.length === 0 ? null : new Date(Math.min(...times))
      },
    },
    upTo: () => this.upTo,
    attempt: async (delivery) => {
      this.sent.push(delivery.id)
      this.#underWay += 1
      this.most = Math.max(this.most, this.#underWay)
      const attempted = await this.answer(delivery)
      this.#underWay -= 1
      return attempted
    },
    report: async (report) => {
      this.reports.push(report)
      const row = this.rows.find(({ id }) => id === report.delivery)
      if (row === undefined) throw new Error("nobody knows it")
      row.attempts += 1
      row.nextAtMs = report.then.kind === "again" ? Date.parse(report.then.at) : null
    },
    now: () => this.clock.now(),
    after: (delayMs, run) => this.clock.after(delayMs, run),
    random: () => 0.5,
    changed: (_, why) => void this.told.push(why),
  })
  upTo = Number.MAX_SAFE_INTEGER

  add(id: string, about = id): void {
    this.rows.push({
      id,
      ordinal: this.rows.length + 1,
      target: "hook",
      notice: { kind: "ended", about, principal: "me", subject: id, facts: { name: null } },
      createdAt: this.clock.now(),
      attempts: 0,
      nextAtMs: this.clock.now().getTime(),
    })
  }

  async run(ms = 0): Promise<void> {
    this.queue.wake()
    await this.clock.pass(ms)
    await Bun.sleep(0)
  }

  outcomes(): string[] {
    return this.reports.map(({ then }) => (then.kind === "settled" ? then.outcome : "again"))
  }

  #first(upTo: number): Row[] {
    const waiting = this.rows.filter(
      ({ nextAtMs, ordinal }) => nextAtMs !== null && ordinal <= upTo,
    )
    return waiting.filter(
      (row) => waiting.find(({ notice }) => notice.about === row.notice.about) === row,
    )
  }
}

describe("a target that takes everything", () => {
  test("gets what is there in the order in which it happened", async () => {
    const stage = new Stage()
    for (let number = 0; number < 30; number += 1) stage.add(`m${number}`)
    await stage.run(1000)

    expect(stage.sent).toEqual(stage.rows.map(({ id }) => id))
    expect(stage.most).toBe(1)
  })

  test("gets four at a time where much waits, and of one execution in order", async () => {
    const stage = new Stage()
    for (let number = 0; number < 600; number += 1) stage.add(`m${number}`, `e${number % 100}`)
    await stage.run(10_000)

    expect(stage.sent).toHaveLength(600)
    expect(new Set(stage.sent).size).toBe(600)
    expect(stage.most).toBe(4)
    for (let about = 0; about < 100; about += 1) {
      const own = stage.sent.filter((id) => Number(id.slice(1)) % 100 === about)
      expect(own).toEqual(
        own.toSorted((one, other) => Number(one.slice(1)) - Number(other.slice(1))),
      )
    }
  })

  test("gets nothing that a loss of power could undo", async () => {
    const stage = new Stage()
    stage.upTo = 1
    stage.add("safe")
    stage.add("not yet")
    await stage.run(60_000)
    expect(stage.sent).toEqual(["safe"])

    stage.upTo = 2
    await stage.run()
    expect(stage.sent).toEqual(["safe", "not yet"])
  })
})

describe("a message that its target does not take", () => {
  test("waits twice as long each time, with what follows it; others do not", async () => {
    const stage = new Stage()
    stage.answer = ({ id }) => (id === "bad" ? failed("it answered 500", 500) : delivered(200))
    stage.add("bad", "one")
    stage.add("after", "one")
    stage.add("other", "two")
    await stage.run(60_000)

    const tries = stage.reports.filter(({ delivery }) => delivery === "bad")
    const seconds = tries.map(({ attempt }) => Math.round(Date.parse(attempt.at) / 1000))
    const [first = 0] = seconds
    expect(seconds.map((one) => one - first)).toEqual([0, 1, 3, 7, 15, 31])
    expect(stage.sent).toContain("other")
    expect(stage.sent).not.toContain("after")
    stage.answer = () => delivered(200)
    await stage.run(60_000)
    expect(stage.sent.slice(-2)).toEqual(["bad", "after"])
  })

  test("is given up when it was refused or tried too often; then the next one goes", async () => {
    const stage = new Stage()
    stage.answer = ({ id }) => (id === "gone" ? refused("it answered 410", 410) : failed("down"))
    stage.add("gone", "one")
    stage.add("next", "one")
    await stage.run(1000)
    expect(stage.outcomes().slice(0, 2)).toEqual(["refused", "again"])

    const row = stage.rows.find(({ id }) => id === "next")
    if (row !== undefined) row.attempts = 159
    await stage.run(120_000)
    expect(stage.outcomes()).toContain("exhausted")
  })

  test("is left alone for as long as its target asks", async () => {
    const stage = new Stage()
    stage.answer = () => ({ ...failed("it answered 429", 429), retryAfterMs: 300_000 })
    stage.add("asked")
    await stage.run(299_000)
    expect(stage.sent).toHaveLength(1)
    await stage.run(2000)
    expect(stage.sent).toHaveLength(2)
  })
})

describe("a target where nobody answers", () => {
  test("is tried with the oldest message, which stays the first when it is back", async () => {
    const stage = new Stage()
    stage.answer = () => ({ ...failed("it refused the connection"), isUnreachable: true })
    for (let number = 0; number < 20; number += 1) stage.add(`m${number}`)
    await stage.run(86_400_000)
    expect(new Set(stage.sent)).toEqual(new Set(["m0"]))
    expect(stage.sent.length).toBeLessThan(7000)
    expect(stage.outcomes()).not.toContain("exhausted")

    stage.sent.length = 0
    stage.answer = () => delivered(200)
    await stage.run(20_000)
    expect(stage.sent).toEqual(stage.rows.map(({ id }) => id))
  })
})

describe("a target that fails all the time", () => {
  test("gets one attempt now and then, and everything once it is back", async () => {
    const stage = new Stage()
    stage.answer = () => failed("it answered 500", 500)
    for (let number = 0; number < 500; number += 1) stage.add(`m${number}`)
    await stage.run(600_000)
    const attempts = stage.sent.length

    // Five before it counts as down, then after 1, 2, 4, 8, 15, 15 … seconds.
    expect(attempts).toBeGreaterThan(30)
    expect(attempts).toBeLessThan(60)
    expect(stage.told).toEqual(["it answered 500"])
    expect(stage.queue.failingSince).not.toBeNull()
    stage.answer = () => delivered(200)
    await stage.run(700_000)
    expect(stage.rows.every(({ nextAtMs }) => nextAtMs === null)).toBe(true)
    expect(stage.told).toEqual(["it answered 500", null])
  })
})

describe("a queue that is closed", () => {
  test("reports nothing more: whoever comes next sends what is not on record", async () => {
    const stage = new Stage()
    const held = Promise.withResolvers<Attempted>()
    stage.answer = () => held.promise
    stage.add("held")
    await stage.run()
    stage.queue.close()
    held.resolve(delivered(200))
    await stage.run(60_000)

    expect(stage.sent).toEqual(["held"])
    expect(stage.reports).toEqual([])
  })
})
