import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { ReceivedOutput } from "../support/received-output.ts"
import { Service } from "../support/service.ts"
import { StreamClient } from "../support/stream-client.ts"
import { until } from "../support/until.ts"

let service: Service
let url: string

beforeAll(async () => {
  service = await Service.start()
  url = await service.url()
})

afterAll(() => service[Symbol.asyncDispose]())

describe("attaching to an execution that goes on", () => {
  test("at `tail` brings what comes from now on, at `start` everything", async () => {
    using client = await StreamClient.connect(url)
    const { id, output } = await client.execute({ argv: ["cat"], stdin: "pipe" })
    await client.call("input", { execution_id: id, data: "before\n" })
    await until("the first line", () => output.tail("stdout") === "before\n")
    using late = await StreamClient.connect(url)
    const fromTail = await late.attach({ execution_id: id, from: "tail" })
    using curious = await StreamClient.connect(url)
    const fromStart = await curious.attach({ execution_id: id, from: "start" })

    await client.call("input", { execution_id: id, data: "after\n", end: true })
    await Promise.all([fromTail.completed, fromStart.completed])

    expect(fromTail.tail("stdout")).toBe("after\n")
    expect(fromStart.tail("stdout")).toBe("before\nafter\n")
  })

  test("at `since:TIME` brings what was written at that time or later", async () => {
    using session = await StreamClient.connect(url)
    const { id, output } = await session.execute({ argv: ["cat"], stdin: "pipe" })
    await session.call("input", { execution_id: id, data: "one\n" })
    await until("the first line", () => output.tail("stdout") === "one\n")
    const firstTime = await timeAt(session, id, "start")
    const afterFirst = output.next
    await until("another millisecond", () => Date.now() > firstTime.getTime())
    await session.call("input", { execution_id: id, data: "two\n", end: true })
    await output.completed
    const secondTime = await timeAt(session, id, afterFirst)

    const texts = [0, firstTime, secondTime, Date.now() + 60_000].map(async (time) => {
      const from = `since:${new Date(time).toISOString()}`
      return (await follow(id, from)).tail("stdout")
    })

    expect(await Promise.all(texts)).toEqual(["one\ntwo\n", "one\ntwo\n", "two\n", ""])
  })

  test("again in the same session moves the one subscription", async () => {
    using client = await StreamClient.connect(url)
    const { id, output } = await client.execute({ argv: ["cat"], stdin: "pipe" })
    await client.call("input", { execution_id: id, data: "line\n" })
    await until("the line", () => output.tail("stdout") === "line\n")

    await client.attach({ execution_id: id, from: "start", encoding: "binary" })
    await until("the line again", () => output.tail("stdout") === "line\nline\n")
    await client.call("input", { execution_id: id, data: "end\n", end: true })
    await output.completed

    expect(output.tail("stdout")).toBe("line\nline\nend\n")
  })
})

describe("attaching to an execution that has ended", () => {
  test.each([
    ["tail", ""],
    ["tail:0", ""],
    ["tail:1", "100000\n"],
    ["tail:3", "99998\n99999\n100000\n"],
  ])("at `%s` brings %j", async (from, text) => {
    const id = await finished("seq 1 100000")

    expect((await follow(id, from)).tail("stdout")).toBe(text)
  })

  test("at `tail:N` of more lines than there are brings all of them", async () => {
    const id = await finished("seq 1 100000")

    expect((await follow(id, "tail:999999")).stdout.lines).toBe(100_000)
  })

  test("counts a last line without an end as a line", async () => {
    const id = await finished("printf 'a\\nb\\nc'")

    expect((await follow(id, "tail:2")).tail("stdout")).toBe("b\nc")
  })

  test("has no output to bring when there was none", async () => {
    const id = await finished("true")

    for (const from of ["start", "tail", "tail:5", "since:2020-01-01T00:00:00Z"]) {
      expect((await follow(id, from)).bytes).toBe(0)
    }
  })
})

describe("a place that is none", () => {
  test.each([
    "garbage",
    "1",
    "1.0.0",
    "2.0.0.0.0.0",
    "1.0.0.-1.0.0",
    "1.0.0.00.0.0",
    "1.0.0.0.0.zzzzzzzzzzz",
    "1.0.0.zzzzzzzz.0.0",
    "1.0.0.0.0.0.f09f98.gg",
    "tail:",
    "tail:-1",
    "tail:1e3",
    "since:",
    "since:yesterday",
    " start",
    "\u0000",
    "x".repeat(256),
  ])("%j is refused, and the subscription there was goes on", async (from) => {
    using client = await StreamClient.connect(url)
    const { id, output } = await client.execute({ argv: ["cat"], stdin: "pipe" })

    const reason = await client.refusal("attach", { execution_id: id, from })
    await client.call("input", { execution_id: id, data: "still here\n", end: true })
    await output.completed

    expect(reason).toBe("INVALID_PARAMS")
    expect(output.tail("stdout")).toBe("still here\n")
  })

  test("is refused when it only looks like one of this execution", async () => {
    const id = await finished("seq 1 100000")
    using client = await StreamClient.connect(url)

    const reason = await client.refusal("attach", { execution_id: id, from: "1.0.7.a.1.0" })

    expect(reason).toBe("INVALID_PARAMS")
    expect((await follow(id, "start")).stdout.lines).toBe(100_000)
  })

  test("is refused in other methods too", async () => {
    const id = await finished("echo hello")
    using client = await StreamClient.connect(url)
    const execution_id = id

    const read = await client.refusal("transcript.read", { execution_id, from: "garbage" })
    const empty = await client.refusal("attach", { execution_id, from: "" })

    expect([read, empty]).toEqual(["INVALID_PARAMS", "INVALID_PARAMS"])
  })
})

async function finished(command: string): Promise<string> {
  using client = await StreamClient.connect(url)
  const { id, output } = await client.execute({ command })
  await output.completed
  return id
}

async function follow(id: string, from: string): Promise<ReceivedOutput> {
  using client = await StreamClient.connect(url)
  const output = await client.attach({ execution_id: id, from })
  await output.completed
  return output
}

async function timeAt(client: StreamClient, id: string, from: string): Promise<Date> {
  const { chunks } = await client.call("transcript.read", { execution_id: id, from })
  return new Date(chunks[0]?.time ?? Number.NaN)
}
