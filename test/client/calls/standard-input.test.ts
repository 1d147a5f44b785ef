import { describe, expect, test } from "bun:test"
import { failure } from "../../../src/protocol/failure.ts"
import { maxInputBytes } from "../../../src/protocol/methods.ts"
import { WriterOffsets } from "../../../src/service/keeper/supervision/writer-offsets.ts"
import { quickClient, rejection } from "../../support/following.ts"
import { ScriptedServer } from "../../support/scripted-server.ts"

describe("what is written to an execution", () => {
  test("arrives in order, then its end", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const execution = await client.execute({ command: "scripted", stdin: "pipe" })

    const writes = [
      execution.write("grüße "),
      execution.write(Buffer.from("bytes")),
      execution.end(),
    ]
    await Promise.all(writes)

    expect(Buffer.from(received(server)).toString()).toBe("grüße bytes")
    expect(server.executions[0]?.inputIsClosed).toBe(true)
    expect(server.seen("input").map((request) => request.params["offset"])).toEqual([0, 8, 13])
  })

  test("is split at a mebibyte", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const execution = await client.execute({ command: "scripted", stdin: "pipe" })
    const data = Buffer.alloc(2 * maxInputBytes + 5, "0123456789")

    await execution.write(data)

    expect(server.seen("input")).toHaveLength(3)
    expect(Buffer.compare(received(server), data)).toBe(0)
  })

  test.each(["cut", "serve-then-cut"] as const)(
    "is not doubled by a connection: %s",
    async (kind) => {
      await using server = new ScriptedServer()
      await using client = quickClient(server.url)
      const execution = await client.execute({ command: "scripted", stdin: "pipe" })
      await execution.write("one ")
      server.next("input", { kind }, { kind })

      await execution.write("two ")
      server.next("input", { kind })
      await execution.end()

      expect(Buffer.from(received(server)).toString()).toBe("one two ")
      expect(server.executions[0]?.inputIsClosed).toBe(true)
    },
  )

  test("counts as taken when the child took it and ended before it could be said", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const execution = await client.execute({ command: "scripted", stdin: "pipe" })
    server.next("input", { kind: "serve-then-cut" })

    const writing = execution.write("last words")
    await server.until(() => server.seen("input").length === 1)
    for (const scripted of server.executions) server.complete(scripted, 0)

    await writing
    expect(await rejection(execution.write("more"))).toMatchObject({
      failure: { reason: "WRONG_STATE" },
    })
  })

  test("is not taken to be taken when the child ended without it", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const execution = await client.execute({ command: "scripted", stdin: "pipe" })
    server.next("input", { kind: "cut" })

    const writing = rejection(execution.write("unheard"))
    await server.until(() => server.seen("input").length === 1)
    for (const scripted of server.executions) server.complete(scripted, 0)

    expect(await writing).toMatchObject({ failure: { reason: "WRONG_STATE" } })
  })

  test("goes behind what was written before to an execution found by its key", async () => {
    await using server = new ScriptedServer()
    await using first = quickClient(server.url)
    await using second = quickClient(server.url)
    const params = { command: "scripted", stdin: "pipe", idempotency_key: "same" } as const
    const before = await first.execute(params)
    await before.write("before ")

    const after = await second.execute(params)
    await after.write("after")

    expect(Buffer.from(received(server)).toString()).toBe("before after")
  })

  test("arrives whatever others write meanwhile, also over a lost connection", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    await using other = quickClient(server.url)
    const mine = await client.execute({ command: "scripted", stdin: "pipe" })
    const theirs = other.input(mine.id)

    await mine.write("one ")
    await theirs.write("two ")
    server.next("input", { kind: "serve-then-cut" })
    await mine.write("three ")
    server.next("input", { kind: "cut" })
    await theirs.write("four ")
    await mine.write("five")

    expect(Buffer.from(received(server)).toString()).toBe("one two three four five")
  })

  test("goes on when the server has forgotten its writer", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const execution = await client.execute({ command: "scripted", stdin: "pipe" })
    await execution.write("one ")
    for (const scripted of server.executions) scripted.inputOffsets = new WriterOffsets()

    await execution.write("two ")
    server.next("input", { kind: "serve-then-cut" })
    await execution.write("three")

    expect(Buffer.from(received(server)).toString()).toBe("one two three")
  })

  test("says that nobody knows, when it was forgotten before it was repeated", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const execution = await client.execute({ command: "scripted", stdin: "pipe" })
    await execution.write("one ")
    const refusal = failure("INVALID_PARAMS", "It would leave a gap.", { offset: 0 })
    server.next("input", { kind: "serve-then-cut" }, { kind: "refuse", failure: refusal })

    const writing = rejection(execution.write("two "))

    expect(await writing).toMatchObject({ name: "ConnectionLostError" })
    await execution.write("three")
    expect(Buffer.from(received(server)).toString()).toBe("one two three")
  })

  test("waits for the start of what is queued", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const execution = await client.execute({ command: "scripted", stdin: "pipe" })
    const details = { state: "queued", retry_after: 0 }
    const refusal = failure("WRONG_STATE", "It is queued and cannot be given input.", details)
    server.next("input", { kind: "refuse", failure: refusal })

    await execution.write("early")

    expect(Buffer.from(received(server)).toString()).toBe("early")
  })

  test("waits while the server says that others have filled the queue", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const execution = await client.execute({ command: "scripted", stdin: "pipe" })
    const refusal = failure("RATE_LIMITED", "Too much waits.", { retry_after: 0 })
    server.next("input", { kind: "refuse", failure: refusal })

    await execution.write("patient")

    expect(Buffer.from(received(server)).toString()).toBe("patient")
  })
})

function received(server: ScriptedServer): Uint8Array {
  return server.executions[0]?.input ?? new Uint8Array()
}
