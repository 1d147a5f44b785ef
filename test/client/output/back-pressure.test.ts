import { describe, expect, test } from "bun:test"
import { ClientClosedError } from "../../../src/client/client-error.ts"
import type { Client } from "../../../src/client/connect.ts"
import type { ExecutionEvent } from "../../../src/client/output/execution-event.ts"
import { allEvents, bytesOf, kindsOf, quickClient, rejection } from "../../support/following.ts"
import type { ScriptedExecution } from "../../support/scripted-execution.ts"
import { ScriptedServer } from "../../support/scripted-server.ts"

const chunkBytes = 4_096
const chunks = 400
const queueBytes = 65_536
const limits = { queueBytes, statusEveryMs: 5 }

describe("output that nobody takes", () => {
  test("stays on the server but for the queue's bound", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url, { limits })
    const { scripted } = flood(server)
    const execution = await client.attach(scripted.id, { encoding: "binary" })

    await server.until(() => server.seen("detach").length === 1)
    await client.close()
    const { events, error } = await eventsAndError(execution.output())

    expect(error).toBeInstanceOf(ClientClosedError)
    expect(bytesOf(events).length).toBeGreaterThan(queueBytes / 2)
    expect(bytesOf(events).length).toBeLessThan(queueBytes + chunkBytes)
  })

  test("does not keep the end from being learned", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url, { limits })
    const { scripted } = flood(server)
    const execution = await client.attach(scripted.id)

    await server.until(() => server.seen("status").length > 3)
    server.complete(scripted, 5)

    expect(await execution.ended).toMatchObject({ exit_code: 5, status: "failed" })
  })

  test("may be ignored: nothing is kept, the cursor moves, the end comes", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url, { limits })
    const { scripted } = flood(server)
    const execution = await client.attach(scripted.id, { output: "ignore" })

    server.complete(scripted, 0)
    await execution.ended

    expect(execution.cursor()).toBe(`at-${chunks}`)
    expect(server.seen("detach")).toEqual([])
    expect(kindsOf(await allEvents(execution))).toEqual(["started", "completed"])
  })
})

describe("a consumer slower than the server", () => {
  test.each(["utf8", "base64", "binary"] as const)(
    "gets every byte once in %s",
    async (encoding) => {
      await using server = new ScriptedServer()
      await using client = quickClient(server.url, { limits })
      const { scripted, written } = flood(server)
      const execution = await client.attach(scripted.id, { encoding })

      await server.until(() => server.seen("detach").length === 1)
      server.complete(scripted, 0)
      const events: ExecutionEvent[] = []
      for await (const event of execution.output()) {
        events.push(event)
        await client.call("list", {}) // meanwhile the server sends far more than one event
      }

      expect(Buffer.compare(bytesOf(events), written)).toBe(0)
      expect(server.seen("attach").length).toBeGreaterThan(2)
    },
  )

  test("gets every byte once although the connection breaks while it is detached", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url, { limits })
    const { scripted, written } = flood(server)
    server.next("detach", { kind: "cut" }, { kind: "serve-then-cut" })
    const execution = await client.attach(scripted.id)

    await server.until(() => server.seen("detach").length === 1)
    server.complete(scripted, 0)
    const events = await allEvents(execution)

    expect(Buffer.compare(bytesOf(events), written)).toBe(0)
  })

  test("learns that the execution was removed meanwhile, after what it has", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url, { limits })
    const { scripted } = flood(server)
    const execution = await client.attach(scripted.id)

    await server.until(() => server.seen("detach").length === 1)
    await remove(client, server, scripted)
    const { events, error } = await eventsAndError(execution.output())

    expect(bytesOf(events).length).toBeGreaterThan(queueBytes / 2)
    expect(error).toMatchObject({ failure: { reason: "PROCESS_NOT_FOUND" } })
    expect(await rejection(execution.ended)).toBe(error)
  })
})

function flood(server: ScriptedServer): { scripted: ScriptedExecution; written: Uint8Array } {
  const scripted = server.add()
  const written = Buffer.alloc(chunks * chunkBytes)
  for (let index = 0; index < chunks; index += 1) {
    const chunk = written.subarray(index * chunkBytes, (index + 1) * chunkBytes)
    chunk.fill(`${index} `)
    server.write(scripted, chunk)
  }
  return { scripted, written }
}

async function remove(
  client: Client,
  server: ScriptedServer,
  scripted: ScriptedExecution,
): Promise<void> {
  await client.call("remove", { execution_id: scripted.id })
  await server.until(() => server.requests.at(-1)?.method === "status")
}

async function eventsAndError(
  output: AsyncIterable<ExecutionEvent>,
): Promise<{ events: ExecutionEvent[]; error: unknown }> {
  const events: ExecutionEvent[] = []
  const reading = async () => {
    for await (const event of output) events.push(event)
  }
  return { error: await rejection(reading()), events }
}
