import { describe, expect, test } from "bun:test"
import {
  lingerUntilEmpty,
  readToTheEnd,
} from "../../../../src/service/keeper/supervision/draining.ts"
import { ManualClock } from "../../../support/manual-clock.ts"
import { type ScriptedProcess, ScriptedTree } from "../../../support/scripted-tree.ts"

function lingering(processes: ScriptedProcess[]) {
  const clock = new ManualClock()
  const tree = new ScriptedTree(clock, processes)
  const hurry = new AbortController()
  let isOver = false
  const isEmpty = lingerUntilEmpty(tree, clock, {
    lingerMs: 2000,
    isOver: () => isOver,
    hurry: hurry.signal,
  })
  return { clock, tree, hurry, isEmpty, receivedHandover: () => (isOver = true) }
}

describe("a tree that has lost its leader", () => {
  test("may empty itself within the linger", async () => {
    const { clock, tree, isEmpty } = lingering([{ pid: 1, endsAfter: { SIGTERM: 1500 } }])
    tree.signal(15)

    await clock.pass(1600)

    expect(await isEmpty).toBe(true)
  })

  test("is given up on after it", async () => {
    const { clock, isEmpty } = lingering([{ pid: 1 }])

    await clock.pass(2100)

    expect(await isEmpty).toBe(false)
  })

  test("is given up on at once by somebody in a hurry", async () => {
    const { clock, hurry, isEmpty } = lingering([{ pid: 1 }])
    await clock.pass(100)

    hurry.abort()

    expect(await isEmpty).toBe(false)
    expect(clock.pending).toBe(0)
  })

  test("is left to whoever stops it meanwhile", async () => {
    const { clock, isEmpty, receivedHandover } = lingering([{ pid: 1 }])
    await clock.pass(100)

    receivedHandover()
    await clock.pass(100)

    expect(await isEmpty).toBe(false)
  })
})

/** Pipes that give what a test lets them give. */
class ScriptedRecorder {
  readonly #done = Promise.withResolvers<void>()
  takenBytes = 1000
  isHeldUp = false
  isReleased = false
  isCanceled = false

  get done(): Promise<void> {
    return this.#done.promise
  }

  release(): void {
    this.isReleased = true
  }

  cancel(): void {
    this.isCanceled = true
    this.#done.resolve()
  }

  end(): void {
    this.#done.resolve()
  }
}

describe("the pipes of an empty tree", () => {
  test("are read until they end", async () => {
    const clock = new ManualClock()
    const recorder = new ScriptedRecorder()

    const reading = readToTheEnd(recorder, 2000, clock, new AbortController().signal)
    expect(recorder.isReleased).toBe(true)
    recorder.end()
    await reading

    expect(recorder.isCanceled).toBe(false)
    expect(clock.pending).toBe(0)
  })

  test("are read however long that takes, as long as bytes come", async () => {
    const clock = new ManualClock()
    const recorder = new ScriptedRecorder()

    const reading = readToTheEnd(recorder, 2000, clock, new AbortController().signal)
    for (let seconds = 0; seconds < 60; seconds++) {
      clock.advance(1000)
      recorder.takenBytes += 1
    }
    expect(recorder.isCanceled).toBe(false)
    recorder.end()

    await reading
  })

  test("are given up on when somebody holds them and is silent", async () => {
    const clock = new ManualClock()
    const recorder = new ScriptedRecorder()

    const reading = readToTheEnd(recorder, 2000, clock, new AbortController().signal)
    clock.advance(1999)
    expect(recorder.isCanceled).toBe(false)
    clock.advance(1)

    await reading
    expect(recorder.isCanceled).toBe(true)
  })

  test("are not given up on while what was read waits to be written", async () => {
    const clock = new ManualClock()
    const recorder = new ScriptedRecorder()
    recorder.isHeldUp = true

    const reading = readToTheEnd(recorder, 2000, clock, new AbortController().signal)
    clock.advance(20_000)
    expect(recorder.isCanceled).toBe(false)
    recorder.isHeldUp = false
    clock.advance(2000)

    await reading
    expect(recorder.isCanceled).toBe(true)
  })

  test("are not given up on after a linger of nothing: the last bytes may be in them", async () => {
    const clock = new ManualClock()
    const recorder = new ScriptedRecorder()

    const reading = readToTheEnd(recorder, 0, clock, new AbortController().signal)
    clock.advance(100)
    recorder.takenBytes += 65_536
    clock.advance(199)
    expect(recorder.isCanceled).toBe(false)
    recorder.end()

    await reading
  })

  test("are given up on when somebody goes on writing more than they can have held", async () => {
    const clock = new ManualClock()
    const recorder = new ScriptedRecorder()

    const reading = readToTheEnd(recorder, 2000, clock, new AbortController().signal)
    while (!recorder.isCanceled) {
      recorder.takenBytes += 1_000_000
      clock.advance(500)
    }

    await reading
    expect(recorder.takenBytes).toBeLessThan(6_000_000)
  })
})
