import { describe, expect, test } from "bun:test"
import type { ChildInput } from "../../../../src/service/keeper/ports.ts"
import { InputQueue } from "../../../../src/service/keeper/supervision/input-queue.ts"
import { settled } from "../../../support/manual-clock.ts"

/** A pipe that takes what its reader makes room for. */
class ScriptedInput implements ChildInput {
  taken = ""
  isClosed = false
  #roomBytes: number
  #wake: () => void = () => undefined

  constructor(roomBytes = Infinity) {
    this.#roomBytes = roomBytes
  }

  makeRoom(bytes: number): void {
    this.#roomBytes += bytes
    this.#wake()
  }

  async write(bytes: Uint8Array): Promise<number> {
    let written = 0
    while (written < bytes.length && !this.isClosed) {
      const piece = bytes.subarray(written, written + Math.min(this.#roomBytes, bytes.length))
      this.taken += new TextDecoder().decode(piece)
      written += piece.length
      this.#roomBytes -= piece.length
      if (written < bytes.length) await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    return written
  }

  close(): void {
    this.isClosed = true
    this.#wake()
  }
}

function queueOn(input: ScriptedInput) {
  let progress = 0
  const queue = new InputQueue(input, () => {
    progress += 1
  })
  const write = (text: string, offset?: number, end = false) =>
    queue.write(new TextEncoder().encode(text), end, offset)
  return { queue, write, progress: () => progress }
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

  test("is told of piece by piece, so that a slow reader is seen to read", async () => {
    const input = new ScriptedInput()
    const { write, progress } = queueOn(input)

    await write("x".repeat(200_000))

    expect(progress()).toBe(4)
  })
})
