import { describe, expect, test } from "bun:test"
import {
  doneUnlessShort,
  guardedClock,
  retriedWhileShort,
  retryingClock,
} from "../../../src/service/keeper/shortages.ts"
import { ManualClock } from "../../support/manual-clock.ts"
import { QuietLog } from "../../support/quiet-log.ts"

const tooManyFiles = Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" })

describe("what the service does by itself", () => {
  test("is logged where it failed for want of something", () => {
    const log = new QuietLog()

    const isDone = doneUnlessShort(log, "a look", () => {
      throw tooManyFiles
    })

    expect(isDone).toBe(false)
    expect(log.entries).toMatchObject([{ level: "error", facts: { what: "a look" } }])
  })

  test("fails as a bug does where it is one", () => {
    const bug = () => doneUnlessShort(new QuietLog(), "a look", () => expect.unreachable("a bug"))

    expect(bug).toThrow("a bug")
  })
})

/** Fails as often as it is told, with these errors in turn. */
function shortOf(...codes: string[]): () => string {
  const left = [...codes]
  return () => {
    const code = left.shift()
    if (code !== undefined) throw Object.assign(new Error(code), { code })
    return "done"
  }
}

const everyShortage = ["EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "ENOSPC"]

describe("what has to be done, and fails for want of something,", () => {
  test("is done as soon as there is enough again", async () => {
    const clock = new ManualClock()
    const done = retriedWhileShort(clock, shortOf(...everyShortage))

    await clock.pass(1000)

    expect(await done).toBe("done")
  })

  test("fails when that does not pass", async () => {
    const clock = new ManualClock()
    const failed = retriedWhileShort(clock, () => {
      throw tooManyFiles
    }).catch((error: unknown) => error)

    await clock.pass(61_000)

    expect(await failed).toBe(tooManyFiles)
  })

  test("fails at once where it is something else", async () => {
    const failed = retriedWhileShort(new ManualClock(), shortOf("EACCES"))

    expect(await failed.catch((error: unknown) => error)).toMatchObject({ code: "EACCES" })
  })
})

describe("a timer of a retrying clock", () => {
  test("comes again until there is enough, and tells only what is no shortage", () => {
    const clock = new ManualClock()
    const told: unknown[] = []
    const retrying = retryingClock(clock, (error) => told.push(error))
    const results: string[] = []
    const work = shortOf(...everyShortage)
    retrying.after(10, () => void results.push(work()))
    retrying.after(10, shortOf("EACCES"))

    clock.advance(1000)

    expect(results).toEqual(["done"])
    expect(told).toMatchObject([{ code: "EACCES" }])
  })

  test("does not come again when nobody wants it any more", () => {
    const clock = new ManualClock()
    let calls = 0
    const timer = retryingClock(clock, () => undefined).after(10, () => {
      calls += 1
      throw tooManyFiles
    })
    clock.advance(20)

    timer[Symbol.dispose]()
    clock.advance(1000)

    expect(calls).toBe(1)
  })
})

describe("a timer of a guarded clock", () => {
  test("tells what it throws, and the others go on", () => {
    const clock = new ManualClock()
    const told: unknown[] = []
    const guarded = guardedClock(clock, (error) => told.push(error))
    let isCalled = false
    guarded.after(10, () => {
      throw tooManyFiles
    })
    guarded.after(20, () => {
      isCalled = true
    })

    clock.advance(20)

    expect(told).toEqual([tooManyFiles])
    expect(isCalled).toBe(true)
  })
})
