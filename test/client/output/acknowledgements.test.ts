import { describe, expect, test } from "bun:test"
import type { Client } from "../../../src/client/connect.ts"
import type { RemoteExecution } from "../../../src/client/remote-execution.ts"
import { failure } from "../../../src/protocol/failure.ts"
import { allEvents, bytesOf, quickClient } from "../../support/following.ts"
import type { ScriptedExecution } from "../../support/scripted-execution.ts"
import { ScriptedServer } from "../../support/scripted-server.ts"
import { until } from "../../support/until.ts"

const ackAfterBytes = 16_384
const chunkBytes = 4_096
const driver = { role: "driver", encoding: "binary" } as const

describe("who drives", () => {
  test("says from the start that it acknowledges, and who only looks does not", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const [driven, seen] = [server.add(), server.add()]

    await client.execute({ command: "scripted" })
    await client.attach(driven.id, driver)
    await client.attach(seen.id)

    expect(server.seen("execute")[0]?.params).toMatchObject({ acknowledges: true })
    const said = server.seen("attach").map(({ params }) => params["acknowledges"])
    expect(said).toEqual([true, false])
  })

  test("acknowledges nothing to a server that does not wait for it", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const scripted = server.add()
    write(server, scripted, 20)
    server.complete(scripted, 0)
    const execution = await client.attach(scripted.id, driver)

    await allEvents(execution)

    expect(server.seen("ack")).toEqual([])
  })
})

describe("output that a child waits for somebody to take", () => {
  test("is acknowledged when it is taken, not when it comes", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const scripted = waitingExecution(server)
    write(server, scripted, 20)
    const execution = await client.attach(scripted.id, driver)
    await untilReceived(client, server, 20)
    expect(server.seen("ack")).toEqual([])

    await take(execution, 20)
    await server.until(() => acknowledged(server).at(-1) === "at-20")

    expect(acknowledged(server).length).toBeLessThan(20)
  })

  test("is acknowledged as soon as nothing more is there, however little it is", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    server.onExecute = (scripted) => {
      scripted.ackAfterBytes = ackAfterBytes
    }
    const execution = await client.execute({ command: "scripted" })
    const [scripted] = server.executions
    if (scripted === undefined) throw new Error("nothing was started")

    for (const text of ["a", "b", "c"]) {
      server.write(scripted, text)
      await take(execution, 1)
      await server.until(() => acknowledged(server).at(-1) === `at-${scripted.records.length}`)
    }

    expect(acknowledged(server)).toEqual(["at-1", "at-2", "at-3"])
  })

  test("is acknowledged although something other than output came last", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const scripted = waitingExecution(server)
    server.write(scripted, "a")
    const execution = await client.attach(scripted.id, driver)
    await untilReceived(client, server, 1)
    await client.call("control", { type: "PAUSE", execution_id: scripted.id })

    for await (const event of execution.output()) if (event.kind === "paused") break
    await server.until(() => server.seen("ack").length === 1)

    expect(acknowledged(server)).toEqual(["at-1"])
  })

  test("is acknowledged now and then while more is there", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const scripted = waitingExecution(server)
    write(server, scripted, 20)
    const execution = await client.attach(scripted.id, driver)
    await untilReceived(client, server, 20)

    for (let taken = 0; taken < 19; taken += 1) {
      await take(execution, 1)
      await client.call("list", {})
    }

    expect(acknowledged(server)).toEqual(["at-4", "at-8", "at-12", "at-16"])
  })

  test("is acknowledged in one message at a time: the next says all since", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const scripted = waitingExecution(server)
    const answer = Promise.withResolvers<void>()
    server.next("ack", { kind: "answer-after", event: answer.promise })
    write(server, scripted, 40)
    const execution = await client.attach(scripted.id, driver)
    await untilReceived(client, server, 40)

    await take(execution, 40)
    await server.until(() => server.seen("ack").length === 1)
    await client.call("list", {})
    const before = acknowledged(server)
    answer.resolve()
    await server.until(() => server.seen("ack").length === 2)

    expect(before).toEqual(["at-4"])
    expect(acknowledged(server)).toEqual(["at-4", "at-40"])
  })

  test("is acknowledged as it is dropped by who ignores it", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const scripted = waitingExecution(server)
    write(server, scripted, 20)

    await client.attach(scripted.id, { ...driver, output: "ignore" })
    await server.until(() => acknowledged(server).at(-1) === "at-20")

    expect(server.seen("detach")).toEqual([])
  })

  test("is acknowledged again when the server had no time for it", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const scripted = waitingExecution(server)
    const busy = failure("RATE_LIMITED", "Too much at once.", { retry_after: 0 })
    server.next("ack", { kind: "refuse", failure: busy }, { kind: "refuse", failure: busy })
    server.write(scripted, "a")
    const execution = await client.attach(scripted.id, driver)

    await take(execution, 1)
    await server.until(() => server.seen("ack").length === 3)

    expect(acknowledged(server)).toEqual(["at-1", "at-1", "at-1"])
  })

  test("is taken as ever when the server refuses to hear of it", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const scripted = waitingExecution(server)
    const refusal = failure("WRONG_STATE", "This session is not attached.")
    server.next("ack", { kind: "refuse", failure: refusal })
    server.write(scripted, "a")
    const execution = await client.attach(scripted.id, driver)
    await take(execution, 1)
    await server.until(() => server.seen("ack").length === 1)

    server.write(scripted, "b")
    await take(execution, 1)
    await server.until(() => server.seen("ack").length === 2)

    expect(acknowledged(server)).toEqual(["at-1", "at-2"])
  })

  test("is acknowledged on the session it came by", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const scripted = waitingExecution(server)
    server.next("ack", { kind: "cut" })
    server.write(scripted, "a")
    const execution = await client.attach(scripted.id, driver)
    await take(execution, 1)
    await server.until(() => server.seen("attach").length === 2)

    server.write(scripted, "b")
    await take(execution, 1)
    await server.until(() => server.seen("ack").length === 2)

    expect(server.seen("attach")[1]?.params).toMatchObject({ from: "at-1", acknowledges: true })
    expect(server.seen("ack").map(({ session }) => session)).toEqual([1, 2])
    expect(acknowledged(server)).toEqual(["at-1", "at-2"])
  })

  test("is acknowledged never beyond what was taken by who is too slow for it", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url, { limits: { queueBytes: 32_768 } })
    const scripted = waitingExecution(server)
    write(server, scripted, 100)
    const execution = await client.attach(scripted.id, driver)
    await server.until(() => server.seen("detach").length === 1)
    server.complete(scripted, 0)

    let taken = 0
    let mostBeyond = 0
    for await (const event of execution.output()) {
      if (event.kind === "output") taken += 1
      await client.call("list", {})
      const last = acknowledged(server).at(-1) ?? "at-0"
      mostBeyond = Math.max(mostBeyond, scripted.indexOf(last) - taken)
    }

    expect(taken).toBe(100)
    expect(mostBeyond).toBe(0)
    expect(server.seen("attach").length).toBeGreaterThan(2)
  })
})

function waitingExecution(server: ScriptedServer): ScriptedExecution {
  const scripted = server.add()
  scripted.ackAfterBytes = ackAfterBytes
  return scripted
}

function write(server: ScriptedServer, scripted: ScriptedExecution, chunks: number): void {
  for (let index = 0; index < chunks; index += 1) {
    server.write(scripted, Buffer.alloc(chunkBytes, `${index} `))
  }
}

/** An answer comes behind what was sent before it: then all of that is in the client's queue. */
async function untilReceived(
  client: Client,
  server: ScriptedServer,
  chunks: number,
): Promise<void> {
  await until(`${chunks} chunks are sent`, () =>
    [...server.sockets].every(({ data }) => data.sentChunks >= chunks),
  )
  await client.call("list", {})
}

/** Takes so many chunks of output and leaves the rest. */
async function take(execution: RemoteExecution, chunks: number): Promise<void> {
  let left = chunks
  for await (const event of execution.output()) {
    if (bytesOf([event]).length > 0) left -= 1
    if (left === 0) return
  }
}

function acknowledged(server: ScriptedServer): string[] {
  return server.seen("ack").map(({ params }) => String(params["next"]))
}
