import { describe, expect, test } from "bun:test"
import { fail, ok, type Result } from "../../../../src/lib/result.ts"
import type { UpgradeCheck } from "../../../../src/protocol/handover.ts"
import type { UpgradeReport } from "../../../../src/protocol/upgrade.ts"
import {
  checkProgram,
  type UpgradePorts,
  Upgrades,
} from "../../../../src/service/keeper/upgrade/upgrades.ts"
import { ManualClock } from "../../../support/manual-clock.ts"
import { QuietLog } from "../../../support/quiet-log.ts"

class Changed extends Error {}

/** A service that can be upgraded, of which a test says what happens. */
function staged(over: Partial<UpgradePorts> = {}) {
  const done: string[] = []
  const reports: UpgradeReport[] = []
  let asked = 0
  const checked: Result<UpgradeCheck, string> = ok({
    version: "2.0.0",
    handover: 1,
    state: 1,
    journal: 2,
  })
  const upgrades = new Upgrades({
    clock: new ManualClock(),
    log: new QuietLog(),
    live: {
      busy: () => [],
      release: async () => void done.push("release"),
      handOver: () => ({ executions: [], queued: [] }),
    },
    holdStarts: (isHeld) => void done.push(isHeld ? "hold" : "let go"),
    takeRequest: () => ({ upgrade: `${++asked}`, program: ["/next"] }),
    report: (report) => void reports.push(report),
    check: async () => checked,
    whyGivenUp: () => null,
    blocker: () => null,
    watch: async () => null,
    closeGateway: async () => void done.push("close doors"),
    holdEndSignals: async () => void done.push("hold signals"),
    change: () => {
      done.push("change")
      throw new Changed()
    },
    ...over,
  })
  return { upgrades, done, reports, phases: () => reports.map(({ phase }) => phase) }
}

describe("an upgrade", () => {
  test("holds starts, closes the doors, releases the children, then changes", async () => {
    const { upgrades, done, phases } = staged()
    upgrades.ready()

    upgrades.begin()

    expect(await upgrades.settled().catch((error: unknown) => error)).toBeInstanceOf(Changed)
    expect(done).toEqual(["hold", "close doors", "release", "hold signals", "change"])
    expect(phases()).toEqual(["checking", "handing-over"])
  })

  test("waits for the service to be ready", async () => {
    const { upgrades, done } = staged()

    upgrades.begin()
    await upgrades.settled()
    expect(done).toEqual([])
    upgrades.ready()

    expect(await upgrades.settled().catch((error: unknown) => error)).toBeInstanceOf(Changed)
    expect(done).toContain("change")
  })

  test("that is refused leaves everything as it was, and another is tried", async () => {
    const { upgrades, done, reports } = staged({ check: async () => fail("It is no program.") })
    upgrades.ready()

    upgrades.begin()
    await upgrades.settled()
    upgrades.begin()
    await upgrades.settled()

    expect(done).toEqual(["let go", "let go"])
    expect(reports.filter(({ phase }) => phase === "refused")).toEqual([
      { upgrade: "1", phase: "refused", why: "It is no program." },
      { upgrade: "2", phase: "refused", why: "It is no program." },
    ])
  })

  test("asked for while one is under way comes after it", async () => {
    const gate = Promise.withResolvers<Result<UpgradeCheck, string>>()
    const { upgrades, reports } = staged({ check: () => gate.promise })
    upgrades.ready()

    upgrades.begin()
    upgrades.begin()
    upgrades.begin()
    gate.resolve(fail("Not now."))
    while (reports.length < 4) await upgrades.settled()

    expect(reports.map(({ upgrade, phase }) => `${upgrade} ${phase}`)).toEqual([
      "1 checking",
      "1 refused",
      "2 checking",
      "2 refused",
    ])
  })

  test("is refused when there is a reason against it, after all waiting", async () => {
    const { upgrades, done, reports } = staged({ blocker: () => "The disk is full." })
    upgrades.ready()

    upgrades.begin()
    await upgrades.settled()

    expect(done).toEqual(["hold", "let go"])
    expect(reports.at(-1)).toMatchObject({ phase: "refused", why: "The disk is full." })
  })

  test("that nobody wants any more is given up, whatever the program would have said", async () => {
    let isWanted = true
    const { upgrades, done, reports } = staged({
      whyGivenUp: () => (isWanted ? null : "It was interrupted."),
      check: async (_, isGivenUp) => {
        expect(isGivenUp()).toBe(false)
        isWanted = false
        expect(isGivenUp()).toBe(true)
        return fail("It did not answer.")
      },
    })
    upgrades.ready()

    upgrades.begin()
    await upgrades.settled()

    expect(done).toEqual(["let go"])
    expect(reports.at(-1)).toMatchObject({ phase: "refused", why: "It was interrupted." })
  })

  test("goes on where nobody may watch over it, and the log says so", async () => {
    const log = new QuietLog()
    const { upgrades, done } = staged({ log, watch: async () => "ptrace: EPERM" })
    upgrades.ready()

    upgrades.begin()

    expect(await upgrades.settled().catch((error: unknown) => error)).toBeInstanceOf(Changed)
    expect(done).toContain("change")
    expect(log.entries).toContainEqual({
      level: "warn",
      facts: { why: "ptrace: EPERM" },
      event: "upgrade without a watchdog",
    })
  })

  test("gives the new program as long as it was asked to", async () => {
    const limits: number[] = []
    const watch = async (limitMs: number) => {
      limits.push(limitMs)
      return null
    }
    const takeRequest = () => ({ upgrade: "1", program: ["/next"], takeOverMs: 1234 })
    const { upgrades } = staged({ watch, takeRequest })
    upgrades.ready()

    upgrades.begin()
    await upgrades.settled().catch(() => undefined)

    expect(limits).toEqual([1234])
  })
})

describe("a program that is asked whether it could take over", () => {
  test.each([
    { takeOverMs: 180_000, seconds: 180 },
    { takeOverMs: undefined, seconds: 15 },
  ])(
    "has $seconds seconds to answer: as long as it may take in all, if somebody said",
    async ({ takeOverMs, seconds }) => {
      const limits: number[] = []
      const given = takeOverMs === undefined ? {} : { takeOverMs }
      const request = { upgrade: "1", program: ["/next"], ...given }

      const checked = await checkProgram(
        request,
        { version: "1", state: 1, journal: 1 },
        async (_, limitMs) => {
          limits.push(limitMs)
          return null
        },
      )

      expect(limits).toEqual([seconds * 1000])
      expect(checked).toMatchObject({ failure: `/next did not answer within ${seconds} s.` })
    },
  )
})
