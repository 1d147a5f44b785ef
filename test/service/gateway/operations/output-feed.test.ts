import { describe, expect, test } from "bun:test"
import { mkdirSync, readdirSync, rmSync, truncateSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import type { StreamName } from "../../../../src/execution/record.ts"
import type { FeedEvent, OutputForm } from "../../../../src/service/gateway/ports.ts"
import {
  bytesIn,
  eventsOf,
  kindsOf,
  StagedExecution,
  textIn,
} from "../../../support/staged-execution.ts"

const euro = Buffer.from("€")

describe("a feed", () => {
  test("gives what is there, waits for more, and ends with the end", async () => {
    using staged = new StagedExecution()
    staged.write("one\n")
    using feed = await staged.open()
    let advances = 0
    using _listening = feed.onAdvance(() => {
      advances += 1
    })

    expect(textIn(eventsOf(feed, "text"))).toBe("one\n")
    expect(feed.next("text")).toBeNull()
    staged.write("two\n")
    expect(advances).toBe(1)
    expect(textIn(eventsOf(feed, "text"))).toBe("two\n")
    staged.end()
    expect(kindsOf(eventsOf(feed, "text"))).toEqual(["ended"])
    expect(feed.next("text")).toBeNull()
  })

  test("fails alone where its transcript cannot be read", async () => {
    using staged = new StagedExecution()
    staged.write("one\n")
    using feed = await staged.open()
    const folder = join(staged.transcripts.directory, staged.id)
    for (const name of readdirSync(folder)) {
      rmSync(join(folder, name))
      mkdirSync(join(folder, name))
    }

    expect(kindsOf(eventsOf(feed, "text"))).toEqual(["failed"])
  })

  test("tells a change of state before the output that came after it", async () => {
    using staged = new StagedExecution()
    using feed = await staged.open()
    staged.change({ kind: "paused", pid: 4242 })
    staged.change({ kind: "running", pid: 4242 })
    staged.write("after\n")

    const events = eventsOf(feed, "text")

    expect(kindsOf(events)).toEqual(["state", "state", "output"])
  })

  test("begins at the end, or so many lines before it, when that is asked", async () => {
    using staged = new StagedExecution()
    staged.write("one\ntwo\nthree\n")
    using tail = await staged.open("tail")
    using two = await staged.open("tail:2")
    using since = await staged.open("since:2030-01-01T00:00:00Z")

    expect(eventsOf(tail, "text")).toEqual([])
    expect(textIn(eventsOf(two, "text"))).toBe("two\nthree\n")
    expect(eventsOf(since, "text")).toEqual([])
  })

  test("is not followed any more once it is disposed", async () => {
    using staged = new StagedExecution()
    const feed = await staged.open()
    feed[Symbol.dispose]()
    feed[Symbol.dispose]()

    expect(staged.link.methods).toEqual(["follow", "unfollow"])
    expect(staged.live.readerCount).toBe(0)
  })
})

describe("a character that is cut in two", () => {
  test("waits for its rest, in the cursor too", async () => {
    using staged = new StagedExecution()
    staged.write(Buffer.concat([Buffer.from("1"), euro.subarray(0, 1)]))
    using feed = await staged.open()
    const [first] = eventsOf(feed, "text")
    staged.write(euro.subarray(1))

    expect(first).toMatchObject({ bytes: Uint8Array.of(0x31), lossy: 0, endsInsideLine: true })
    expect(textIn(eventsOf(feed, "text"))).toBe("€")
    using resumed = await staged.open(nextOf(first))
    expect(textIn(eventsOf(resumed, "text"))).toBe("€")
  })

  test("is given first to a reader that goes on in bytes", async () => {
    using staged = new StagedExecution()
    staged.write(Buffer.concat([Buffer.from("1"), euro.subarray(0, 2)]))
    using feed = await staged.open()
    const [first] = eventsOf(feed, "text")
    staged.write(euro.subarray(2))

    using resumed = await staged.open(nextOf(first))

    expect(bytesIn(eventsOf(resumed, "bytes"), "stdout")).toEqual(euro)
  })

  test("waits on each stream by itself", async () => {
    using staged = new StagedExecution()
    using feed = await staged.open()
    staged.write(euro.subarray(0, 1), "stdout")
    staged.write(euro.subarray(0, 2), "stderr")
    expect(eventsOf(feed, "text")).toEqual([])
    staged.write(euro.subarray(1), "stdout")
    staged.write(euro.subarray(2), "stderr")

    const events = eventsOf(feed, "text")

    expect(textIn(events, "stdout")).toBe("€")
    expect(textIn(events, "stderr")).toBe("€")
  })

  test("stands for itself when its rest never comes", async () => {
    using staged = new StagedExecution()
    staged.write(euro.subarray(0, 2))
    staged.end()
    using feed = await staged.open()

    const events = eventsOf(feed, "text")

    expect(kindsOf(events)).toEqual(["output", "ended"])
    expect(events[0]).toMatchObject({ bytes: Buffer.from("\uFFFD"), lossy: 1 })
  })
})

describe("output that was forgotten", () => {
  test("is told as a gap, with exactly what is missing", async () => {
    using staged = new StagedExecution({ bytes: 1024, policy: "drop-oldest" })
    staged.write("first\n")
    using feed = await staged.open()
    const before = eventsOf(feed, "text")
    for (let line = 0; line < 100; line += 1) staged.write(`${"x".repeat(60)} ${line}\n`)

    const events = eventsOf(feed, "text")
    const [gap] = events
    if (gap?.kind !== "gap") throw new Error(`no gap, but ${gap?.kind}`)

    const kept = textIn(events)
    const written = staged.record.transcript
    expect(gap.from).toBe(nextOf(before[0]))
    expect(textIn(before).length + gap.bytes + kept.length).toBe(written.stdout.bytes)
    expect(1 + gap.lines + kept.split("\n").length - 1).toBe(written.stdout.lines)
    expect(gap.bytes + 6).toBe(written.dropped.bytes)
    using resumed = await staged.open(gap.next)
    expect(textIn(eventsOf(resumed, "text"))).toBe(kept)
  })

  test("leaves half a character behind, which is not given up silently", async () => {
    using staged = new StagedExecution({ bytes: 1024, policy: "drop-oldest" })
    staged.write(euro.subarray(0, 1))
    using feed = await staged.open()
    eventsOf(feed, "text")
    staged.write("y".repeat(2000))

    const events = eventsOf(feed, "text")

    expect(kindsOf(events)).toEqual(["output", "gap", "output"])
    expect(events[0]).toMatchObject({ bytes: Buffer.from("\uFFFD"), lossy: 1 })
  })

  test("altogether is said so", async () => {
    using staged = new StagedExecution()
    staged.write("gone\n")
    staged.end()
    staged.expire()
    using feed = await staged.open()

    const events = eventsOf(feed, "text")

    expect(events).toMatchObject([{ kind: "failed", failure: { reason: "EXPIRED" } }])
  })
})

describe("a damaged transcript", () => {
  test("is told, and nothing of it is passed on", async () => {
    using staged = new StagedExecution()
    staged.write("whole\n")
    using feed = await staged.open()
    const folder = join(staged.transcripts.directory, staged.id)
    const [segment = ""] = readdirSync(folder)
    truncateSync(join(folder, segment), 140)

    const events = eventsOf(feed, "text")

    expect(events).toMatchObject([{ kind: "failed", failure: { reason: "INTERNAL" } }])
    expect(feed.next("text")).toBeNull()
    rmSync(folder, { recursive: true })
  })
})

describe("any output", () => {
  const writes = fc.array(
    fc.record({
      stream: fc.constantFrom<StreamName>("stdout", "stderr"),
      bytes: fc.uint8Array({ maxLength: 40 }),
    }),
    { maxLength: 30 },
  )
  const forms = fc.infiniteStream(fc.constantFrom<OutputForm>("text", "bytes"))

  test("comes once and whole to a reader that leaves after every piece", async () => {
    await fc.assert(
      fc.asyncProperty(writes, async (all) => {
        using staged = new StagedExecution()
        for (const { stream, bytes } of all) if (bytes.length > 0) staged.write(bytes, stream)
        staged.end()

        const events: FeedEvent[] = []
        let from = "start"
        while (events.at(-1)?.kind !== "ended") {
          using feed = await staged.open(from)
          const event = feed.next("bytes")
          if (event?.kind === "output") from = event.next
          if (event !== null) events.push(copyOf(event))
        }

        for (const stream of ["stdout", "stderr"] as const) {
          expect(bytesIn(events, stream)).toEqual(writtenTo(all, stream))
        }
      }),
      { numRuns: 60 },
    )
  })

  test("is the same text, whichever way the pieces before were taken", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "grapheme", maxLength: 60 }),
        forms,
        async (text, taken) => {
          using staged = new StagedExecution()
          for (const byte of Buffer.from(text)) staged.write(Uint8Array.of(byte))
          staged.end()
          const got: Buffer[] = []
          let from = "start"
          let isOver = false
          while (!isOver) {
            using feed = await staged.open(from)
            const form = taken.next().value ?? "text"
            const event = feed.next(form)
            isOver = event === null || event.kind === "ended"
            if (event?.kind !== "output") continue
            got.push(Buffer.from(event.bytes))
            from = event.next
          }
          expect(Buffer.concat(got).toString()).toBe(text)
        },
      ),
      { numRuns: 60 },
    )
  })
})

function nextOf(event: FeedEvent | undefined): string {
  if (event?.kind !== "output") throw new Error(`no output, but ${event?.kind}`)
  return event.next
}

function copyOf(event: FeedEvent): FeedEvent {
  return event.kind === "output" ? { ...event, bytes: event.bytes.slice() } : event
}

function writtenTo(all: { stream: StreamName; bytes: Uint8Array }[], stream: StreamName): Buffer {
  return Buffer.concat(all.flatMap((one) => (one.stream === stream ? [one.bytes] : [])))
}
