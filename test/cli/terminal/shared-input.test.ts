import { expect, test } from "bun:test"
import { SharedInput } from "../../../src/cli/terminal/shared-input.ts"
import { fakeInput } from "../fake-context.ts"

test("who has read enough leaves the rest to the next reader", async () => {
  using input = new SharedInput(fakeInput("terminal", ["a", "b", "c"]))
  const forever = new AbortController().signal
  const read: string[] = []

  for await (const chunk of input.chunks(forever)) {
    read.push(Buffer.from(chunk).toString())
    break
  }
  for await (const chunk of input.chunks(forever)) read.push(Buffer.from(chunk).toString())

  expect(read).toEqual(["a", "b", "c"])
})

test("a reader that is told to end leaves what comes later", async () => {
  const more = Promise.withResolvers<void>()
  const typed = {
    ...fakeInput("terminal"),
    async *chunks() {
      await more.promise
      yield Buffer.from("later")
    },
  }
  using input = new SharedInput(typed)
  const over = new AbortController()
  const first = input.chunks(over.signal).next()

  over.abort()
  expect((await first).done).toBe(true)
  more.resolve()

  const next = await input.chunks(new AbortController().signal).next()
  expect(Buffer.from(next.value ?? []).toString()).toBe("later")
})
