import { expect, test } from "bun:test"
import { singleFlight } from "../../src/lib/single-flight.ts"
import { ManualClock } from "../support/manual-clock.ts"

function asking() {
  const clock = new ManualClock()
  const put: PromiseWithResolvers<string>[] = []
  const ask = singleFlight(
    () => {
      const question = Promise.withResolvers<string>()
      put.push(question)
      return question.promise
    },
    1000,
    (delayMs, run) => clock.after(delayMs, run),
  )
  return { clock, put, ask }
}

test("many who ask at once put one question, and the next is a new one", async () => {
  const { put, ask } = asking()
  const both = [ask(), ask()]
  put[0]?.resolve("yes")

  expect(await Promise.all(both)).toEqual(["yes", "yes"])
  const later = ask()
  put[1]?.resolve("no")
  expect(await later).toBe("no")
  expect(put).toHaveLength(2)
})

test("nobody waits for ever, and whoever asks meanwhile does not ask again", async () => {
  const { clock, put, ask } = asking()
  const late = ask()
  clock.advance(1000)

  expect(await late).toBeNull()
  const next = ask()
  put[0]?.resolve("at last")
  expect(await next).toBe("at last")
  expect(put).toHaveLength(1)
})
