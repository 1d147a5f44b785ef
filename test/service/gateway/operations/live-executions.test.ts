import { describe, expect, test } from "bun:test"
import { fail } from "../../../../src/lib/result.ts"
import type { KeeperUpdates } from "../../../../src/service/gateway/operations/keeper-link.ts"
import {
  type Followed,
  LiveExecutions,
} from "../../../../src/service/gateway/operations/live-executions.ts"
import { RecordBook } from "../../../support/record-book.ts"
import { sampleId, sampleRecord, transcriptOf } from "../../../support/sample-record.ts"
import { keeperBroke, ScriptedLink, settled } from "../../../support/scripted-link.ts"

const id = sampleId(1)
const executionId = id
const running = sampleRecord({ id })
const ended = sampleRecord({
  id,
  state: { kind: "ended", outcome: { kind: "exited", exitCode: 0 } },
  transcript: transcriptOf(7),
})

function stage() {
  const link = new ScriptedLink()
  const journal = new RecordBook()
  const live = new LiveExecutions(
    () => link,
    () => journal,
  )
  return { link, journal, live }
}

/** Opens as an operation does: its reader is there when the opening ends. */
async function open(live: LiveExecutions, reader: Reader): Promise<Followed | null> {
  using _opening = live.opening(id)
  const found = await live.follow(id)
  if (!found.ok) throw new Error(found.failure.message)
  if (found.value !== null) reader.reading = live.read(found.value, reader)
  return found.value
}

async function readBriefly(live: LiveExecutions): Promise<void> {
  const reader = new Reader()
  await open(live, reader)
  reader.leave()
}

class Reader {
  readonly heard: string[] = []
  reading: Disposable | null = null

  leave(): void {
    this.reading?.[Symbol.dispose]()
  }

  advanced(): void {
    this.heard.push("advanced")
  }

  changed(record: typeof running): void {
    this.heard.push(record.state.kind)
  }
}

const updates: KeeperUpdates = { kind: "updates", advances: [], changes: [], resync: false }

describe("an execution that is followed", () => {
  test("tells its readers of changes and of advances, in the order they happened", async () => {
    const { link, live } = stage()
    const reader = new Reader()
    const opened = open(live, reader)
    await link.callTo("follow").answer({ record: running })
    const followed = await opened
    const paused = sampleRecord({ id, state: { kind: "paused", pid: 4242 } })

    live.apply({
      ...updates,
      changes: [paused],
      advances: [{ executionId, transcript: transcriptOf(5) }],
    })

    expect(reader.heard).toEqual(["paused", "advanced"])
    expect(followed?.transcript).toEqual(transcriptOf(5))
    expect(live.peek(id)).toEqual({ ...paused, transcript: transcriptOf(5) })
  })

  test("is not asked for a second time", async () => {
    const { link, live } = stage()
    const first = open(live, new Reader())
    await link.callTo("follow").answer({ record: running })

    expect(await open(live, new Reader())).toBe(await first)
    expect(link.methods).toEqual(["follow"])
    expect(live.readerCount).toBe(2)
  })

  test("is let go with its last reader", async () => {
    const { link, live } = stage()
    const [one, other] = [new Reader(), new Reader()]
    const opened = open(live, one)
    await link.callTo("follow").answer({ record: running })
    await opened
    await open(live, other)

    one.leave()
    one.leave()
    expect(link.methods).toEqual(["follow"])
    expect(live.readerCount).toBe(1)

    other.leave()
    expect(link.methods).toEqual(["follow", "unfollow"])
    expect(live.readerCount).toBe(0)
  })

  test("is followed on for a reader that comes while another one leaves", async () => {
    const { link, live } = stage()
    const lasting = new Reader()
    const first = readBriefly(live)
    const second = open(live, lasting)
    await link.callTo("follow", 0).answer({ record: running })
    await first
    await link.callTo("follow", 1).answer({ record: running })
    await second

    live.apply({ ...updates, advances: [{ executionId, transcript: transcriptOf(9) }] })

    expect(link.methods).not.toContain("unfollow")
    expect(lasting.heard).toEqual(["advanced"])
  })

  test("is let go when nothing came of an opening", async () => {
    const { link, live } = stage()
    const opening = live.opening(id)
    const followed = live.follow(id)
    await link.callTo("follow").answer({ record: running })
    await followed

    opening[Symbol.dispose]()

    expect(link.methods).toEqual(["follow", "unfollow"])
  })

  test("needs no letting go once it has ended", async () => {
    const { link, live } = stage()
    const reader = new Reader()
    const opened = open(live, reader)
    await link.callTo("follow").answer({ record: running })
    await opened

    live.apply({ ...updates, changes: [ended] })
    expect(live.readerCount).toBe(1)
    reader.leave()

    expect(reader.heard).toEqual(["ended"])
    expect(link.methods).toEqual(["follow"])
    expect(live.peek(id)).toBeNull()
  })

  test("never goes back: what a resync reads may be older than what was told", async () => {
    const { link, journal, live } = stage()
    const reader = new Reader()
    const opened = open(live, reader)
    await link.callTo("follow").answer({ record: running })
    const followed = await opened
    live.apply({ ...updates, advances: [{ executionId, transcript: transcriptOf(9) }] })
    journal.write(running)

    live.apply({ ...updates, resync: true })

    expect(followed?.transcript).toEqual(transcriptOf(9))
  })
})

describe("an execution that is not live", () => {
  test("is read from the journal", async () => {
    const { link, journal, live } = stage()
    journal.write(ended)
    const reader = new Reader()
    const opened = open(live, reader)
    await link.callTo("follow").answer({ record: null })

    expect((await opened)?.record).toEqual(ended)
    expect(live.peek(id)).toBeNull()
    expect(live.readerCount).toBe(1)
    reader.leave()
    expect(live.readerCount).toBe(0)
  })

  test("and not in the journal either is nothing", async () => {
    const { link, live } = stage()
    const opened = open(live, new Reader())
    await link.callTo("follow").answer({ record: null })
    expect(await opened).toBeNull()
  })

  test("is told as the keeper's failure when that fails", async () => {
    const { link, journal, live } = stage()
    journal.write(ended)
    const found = live.follow(id)
    await link.callTo("follow").refuse(keeperBroke)
    expect(await found).toEqual(fail(keeperBroke))
  })
})

describe("watchers", () => {
  test("are told of every change, and the keeper is asked once for all of them", async () => {
    const { link, live } = stage()
    const heard: string[] = []
    const watch = (name: string) => live.watch(({ state }) => heard.push(`${name} ${state.kind}`))
    const first = watch("first")
    const second = watch("second")

    live.apply({ ...updates, changes: [running, ended] })
    expect(live.readerCount).toBe(2)
    first[Symbol.dispose]()
    live.apply({ ...updates, changes: [running] })
    second[Symbol.dispose]()
    second[Symbol.dispose]()
    await settled()

    const both = ["first running", "second running", "first ended", "second ended"]
    expect(heard).toEqual([...both, "second running"])
    expect(link.calls.map(({ params }) => params)).toEqual([{ on: true }, { on: false }])
  })

  test("are told, after a resync, of what they may have missed", () => {
    const { journal, live } = stage()
    const heard: string[] = []
    live.watch((record) => heard.push(record.id))
    const other = sampleRecord({ id: sampleId(2) })
    journal.write(running, other)

    live.apply({ ...updates, resync: true })

    expect(heard.toSorted()).toEqual([id, other.id].toSorted())
  })
})
