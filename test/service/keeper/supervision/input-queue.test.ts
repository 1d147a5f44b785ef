import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { InputQueue } from "../../../../src/service/keeper/supervision/input-queue.ts"
import type { WriterOffset } from "../../../../src/service/keeper/supervision/writer-offsets.ts"
import { settled } from "../../../support/manual-clock.ts"
import { ScriptedInput } from "../../../support/scripted-input.ts"

function queueOn(input: ScriptedInput) {
  let progress = 0
  const queue = new InputQueue(input, () => {
    progress += 1
  })
  const data = (text: string) => new TextEncoder().encode(text)
  const write = (text: string, offset?: number, end = false, writer: string | null = null) =>
    queue.write({ data: data(text), end, offset: offset ?? null, principal: "ann", writer })
  const writeAs = (principal: string, writer: string | null, text: string, offset: number | null) =>
    queue.write({ data: data(text), end: false, offset, principal, writer })
  return { queue, write, writeAs, progress: () => progress }
}

describe("the input of a child", () => {
  test("is taken in the order in which it was asked", async () => {
    const input = new ScriptedInput(2)
    const { queue, write } = queueOn(input)

    const answers = [write("abc"), write("def"), write("", undefined, true)]
    await settled()
    expect(input.taken).toBe("ab")
    expect(input.isClosed).toBe(false)
    input.makeRoom(100)

    expect(await Promise.all(answers)).toEqual([
      { ok: true, value: { accepted: 3, offset: 3 } },
      { ok: true, value: { accepted: 3, offset: 6 } },
      { ok: true, value: { accepted: 0, offset: 6 } },
    ])
    expect(input.taken).toBe("abcdef")
    expect(input.isClosed).toBe(true)
    expect(queue.taken).toBe(6)
  })

  test("is written once where an offset repeats it, in whole or in part", async () => {
    const input = new ScriptedInput()
    const { write } = queueOn(input)

    expect(await write("abc", 0)).toMatchObject({ value: { accepted: 3, offset: 3 } })
    expect(await write("abc", 0)).toMatchObject({ value: { accepted: 0, offset: 3 } })
    expect(await write("bcde", 1)).toMatchObject({ value: { accepted: 2, offset: 5 } })

    expect(input.taken).toBe("abcde")
  })

  test("that leaves a hole is refused", async () => {
    const input = new ScriptedInput()
    const { write } = queueOn(input)
    await write("abc")

    const refused = await write("xyz", 4)

    expect(refused).toMatchObject({
      ok: false,
      failure: { reason: "INVALID_PARAMS", details: { offset: 3 } },
    })
    expect(input.taken).toBe("abc")
  })

  test("that was repeated is judged when its turn comes, not when it was sent", async () => {
    const input = new ScriptedInput(1)
    const { write } = queueOn(input)

    const first = write("abc", 0)
    const again = write("abc", 0)
    input.makeRoom(100)

    expect(await first).toMatchObject({ value: { accepted: 3 } })
    expect(await again).toMatchObject({ value: { accepted: 0, offset: 3 } })
    expect(input.taken).toBe("abc")
  })

  test("may wait in a few requests, and no more", async () => {
    const input = new ScriptedInput(0)
    const { queue, write } = queueOn(input)
    const waiting = [write("a"), write("b"), write("c"), write("d")]

    const fifth = await write("e")

    expect(fifth).toMatchObject({ ok: false, failure: { reason: "RATE_LIMITED" } })
    queue.close()
    for (const answer of await Promise.all(waiting)) {
      expect(answer).toMatchObject({ ok: false, failure: { reason: "WRONG_STATE" } })
    }
    expect(input.taken).toBe("")
  })

  test("that the child takes only in part is refused with what it took", async () => {
    const input = new ScriptedInput(2)
    const { queue, write } = queueOn(input)

    const answer = write("abcd")
    await settled()
    queue.close()

    expect(await answer).toMatchObject({
      ok: false,
      failure: { reason: "WRONG_STATE", details: { accepted: 2, offset: 2 } },
    })
    expect(await write("more")).toMatchObject({ failure: { details: { accepted: 0, offset: 2 } } })
    expect(await write("ab", 0)).toMatchObject({ ok: true, value: { accepted: 0, offset: 2 } })
  })

  test("counts for each writer by itself", async () => {
    const input = new ScriptedInput()
    const { queue, write } = queueOn(input)
    const mine = (text: string, offset: number) => write(text, offset, false, "me")
    const theirs = (text: string, offset: number) => write(text, offset, false, "they")

    expect(await mine("one ", 0)).toMatchObject({ value: { accepted: 4, offset: 4 } })
    expect(await theirs("two ", 0)).toMatchObject({ value: { accepted: 4, offset: 4 } })
    expect(await mine("three ", 4)).toMatchObject({ value: { accepted: 6, offset: 10 } })
    expect(await theirs("two four", 0)).toMatchObject({ value: { accepted: 4, offset: 8 } })
    expect(await mine("gap", 11)).toMatchObject({ failure: { details: { offset: 10 } } })

    expect(input.taken).toBe("one two three four")
    expect(queue.taken).toBe(18)
  })

  test("does not make one writer wait because others have filled their share", async () => {
    const input = new ScriptedInput(0)
    const { write } = queueOn(input)
    const writers = ["a", "b", "c", "d", "e", "f"]
    const answers = writers.map((writer) => write(writer, 0, false, writer))
    await settled()
    input.makeRoom(100)

    for (const answer of await Promise.all(answers)) expect(answer.ok).toBe(true)
    expect(input.taken).toBe("abcdef")
  })

  test("forgets who wrote longest ago, after a thousand writers of one principal", async () => {
    const { queue, writeAs } = queueOn(new ScriptedInput())
    await writeAs("bob", "writer 0", "x", 0)
    for (let at = 0; at <= 1000; at += 1) await writeAs("ann", `writer ${at}`, "x", 0)

    expect(queue.writers).toHaveLength(1001)
    expect(await writeAs("ann", "writer 1000", "y", 1)).toMatchObject({ ok: true })
    expect(await writeAs("ann", "writer 0", "y", 1)).toMatchObject({
      failure: { reason: "INVALID_PARAMS", details: { offset: 0 } },
    })
    expect(await writeAs("bob", "writer 0", "y", 1)).toMatchObject({ ok: true })
  })

  test("forgets nobody whose request is under way", async () => {
    const input = new ScriptedInput(1)
    const { queue, writeAs } = queueOn(input)
    await writeAs("ann", "slow", "a", 0)
    const others = Array.from({ length: 999 }, (_, at): WriterOffset => ["ann", `${at}`, 1])
    const writers = [...queue.writers, ...others]
    const before = { taken: 1000, isClosed: false, writers, answeredTo: 0 }
    const next = new InputQueue(input, () => undefined, before)
    const data = new TextEncoder().encode("b")
    const request = { data, end: false, principal: "ann" }

    const other = next.write({ ...request, writer: "new", offset: 0 })
    const slow = next.write({ ...request, writer: "slow", offset: 1 })
    input.makeRoom(10)

    expect(await other).toMatchObject({ ok: true })
    expect(await slow).toMatchObject({ ok: true, value: { offset: 2 } })
    expect(next.writers).toHaveLength(1000)
  })

  test("leaves room in the queue for others, however many writers one invents", async () => {
    const input = new ScriptedInput(0)
    const { queue, writeAs } = queueOn(input)
    const many = Array.from({ length: 200 }, (_, at) => writeAs("bob", `${at}`, "b", 0))
    const anonymous = Array.from({ length: 5 }, () => writeAs("eve", null, "e", null))

    const mine = writeAs("ann", null, "a", null)
    await settled()
    input.makeRoom(1000)

    expect(await mine).toMatchObject({ ok: true })
    const refused = (answers: { ok: boolean }[]) => answers.filter(({ ok }) => !ok).length
    expect(refused(await Promise.all(many))).toBe(200 - 128)
    expect(refused(await Promise.all(anonymous))).toBe(1)
    expect(queue.taken).toBe(128 + 4 + 1)
  })

  test("is told of piece by piece, so that a slow reader is seen to read", async () => {
    const input = new ScriptedInput()
    const { write, progress } = queueOn(input)

    await write("x".repeat(200_000))

    expect(progress()).toBe(4)
  })
})

describe("any number of writers that are cut off at any moment", () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant("send"), of: fc.nat(4) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("send again"), of: fc.nat(4) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("make room"), of: fc.nat(12) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("upgrade"), of: fc.constant(0) }) },
  )

  test("have each byte taken once, in their order, and no request torn apart", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const input = new ScriptedInput(0)
        let queue = new InputQueue(input, () => undefined)
        const writers = [0, 1, 2, 3, 4].map((number) => new ModelWriter(number))
        for (const { kind, of } of steps) {
          if (kind === "make room") input.makeRoom(of)
          else if (kind === "send") writers[of]?.send(queue)
          else if (kind === "send again") writers[of]?.sendAgain(queue)
          else if (await isIdle(writers)) {
            const { taken, isClosed, writers: offsets, answeredTo } = queue
            const before = { taken, isClosed, writers: offsets, answeredTo }
            queue = new InputQueue(input, () => undefined, before)
          }
          await settled()
        }
        input.makeRoom(Infinity)
        for (const writer of writers) await writer.answered()

        const requests = input.taken.match(/<[^>]*>/g) ?? []
        expect(requests.join("")).toBe(input.taken)
        for (const writer of writers) {
          expect(requests.filter((text) => writer.isOwn(text))).toEqual(writer.sent)
        }
      }),
      { numRuns: 100 },
    )
  })
})

async function isIdle(writers: ModelWriter[]): Promise<boolean> {
  await settled()
  return writers.every((writer) => writer.unanswered === 0)
}

/** Sends its next text only when the last one is answered, as the client library does. */
class ModelWriter {
  readonly sent: string[] = []
  unanswered = 0
  readonly #number: number
  #offset = 0
  #answers: Promise<unknown>[] = []

  constructor(number: number) {
    this.#number = number
  }

  isOwn(text: string): boolean {
    return text.startsWith(`<${this.#number}:`)
  }

  send(queue: InputQueue): void {
    if (this.unanswered > 0) return
    this.#offset = this.sent.join("").length
    this.sent.push(`<${this.#number}:${this.sent.length} ${"x".repeat(this.sent.length)}>`)
    this.#ask(queue)
  }

  /** As after a lost connection, where nobody knows what became of the request. */
  sendAgain(queue: InputQueue): void {
    if (this.sent.length > 0 && this.unanswered < 4) this.#ask(queue)
  }

  async answered(): Promise<void> {
    for (const answer of await Promise.all(this.#answers))
      expect(answer).toMatchObject({ ok: true })
  }

  #ask(queue: InputQueue): void {
    this.unanswered += 1
    const data = new TextEncoder().encode(this.sent.at(-1))
    const writer = `${this.#number}`
    const request = { data, end: false, principal: "ann", writer, offset: this.#offset }
    const answer = queue.write(request).finally(() => {
      this.unanswered -= 1
    })
    this.#answers.push(answer)
  }
}
