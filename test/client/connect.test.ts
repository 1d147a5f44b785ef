import { describe, expect, test } from "bun:test"
import { AlreadyAttachedError, DetachedError } from "../../src/client/client-error.ts"
import { failure } from "../../src/protocol/failure.ts"
import { allEvents, quickClient, readUntil, rejection, textOf } from "../support/following.ts"
import { ScriptedServer } from "../support/scripted-server.ts"

describe("attaching", () => {
  test("takes the beginning of an id", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const scripted = server.add()

    const execution = await client.attach("aaaa")

    expect(execution.id).toBe(scripted.id)
    expect(execution.pid).toBe(scripted.pid)
  })

  test("to what does not exist is refused", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)

    const error = await rejection(client.attach("nowhere"))

    expect(error).toMatchObject({ failure: { reason: "PROCESS_NOT_FOUND" } })
  })

  test("to what is no longer kept is refused", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const scripted = server.add()
    scripted.isExpired = true

    const error = await rejection(client.attach(scripted.id))

    expect(error).toMatchObject({ failure: { reason: "EXPIRED" } })
  })

  test("is refused at once for a reason that would pass, since somebody waits", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const scripted = server.add()
    server.next("attach", { kind: "refuse", failure: failure("RATE_LIMITED", "Not so fast.") })

    const error = await rejection(client.attach(scripted.id))

    expect(error).toMatchObject({ failure: { reason: "RATE_LIMITED" } })
    expect((await client.attach(scripted.id)).id).toBe(scripted.id)
  })

  test("twice is refused here, and does not disturb the first", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const scripted = server.add()
    const execution = await client.attach(scripted.id)

    const again = await rejection(client.attach(scripted.id))
    const byHand = await rejection(client.call("attach", { execution_id: "aaaa" }))
    server.write(scripted, "undisturbed")
    server.complete(scripted, 0)

    expect(again).toBeInstanceOf(AlreadyAttachedError)
    expect(byHand).toBeInstanceOf(AlreadyAttachedError)
    expect(textOf(await allEvents(execution))).toBe("undisturbed")
    expect(server.seen("attach")).toHaveLength(1)
  })

  test("by a key that is in use is refused too, and the first goes on at its place", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    server.onExecute = (execution) => {
      server.write(execution, "zero ")
      server.write(execution, "one ")
    }
    const params = { command: "scripted", idempotency_key: "same" }
    const execution = await client.execute(params)
    await readUntil(execution, "one")

    const error = await rejection(client.execute(params))
    for (const scripted of server.executions) {
      server.write(scripted, "two")
      server.complete(scripted, 0)
    }

    expect(error).toBeInstanceOf(AlreadyAttachedError)
    expect(textOf(await allEvents(execution))).toBe("two")
  })

  test("again after the end gives it all again", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    server.onExecute = (execution) => {
      server.write(execution, "text")
      server.complete(execution, 0)
    }
    const first = await client.execute({ command: "scripted" })
    await first.ended

    const second = await client.attach(first.id)

    expect(textOf(await allEvents(second))).toBe("text")
    expect(textOf(await allEvents(first))).toBe("text")
  })
})

describe("detaching", () => {
  test("ends the output after what has come, and lets another attach", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    server.onExecute = (execution) => server.write(execution, "one ")
    const first = await client.execute({ command: "scripted" })
    await readUntil(first, "one")

    await first.detach()
    const second = await client.attach(first.id, { from: first.cursor() })
    for (const scripted of server.executions) {
      server.write(scripted, "two")
      server.complete(scripted, 0)
    }

    expect(textOf(await allEvents(first))).toBe("")
    expect(await rejection(first.ended)).toBeInstanceOf(DetachedError)
    expect(textOf(await allEvents(second))).toBe("two")
  })

  test("while the server is about to answer an attach is made good by a detach", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const execution = await client.execute({ command: "scripted" })
    const answered = Promise.withResolvers<void>()
    server.next("attach", { kind: "answer-after", event: answered.promise })
    server.cut()
    await server.until(() => server.seen("attach").length === 1)

    const detaching = execution.detach()
    answered.resolve()
    await detaching
    await client.call("list", {})

    expect(server.requests.map((request) => request.method).slice(-3)).toEqual([
      "attach",
      "detach",
      "list",
    ])
  })

  test("works while there is no connection", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const execution = await client.execute({ command: "scripted" })
    await server.stop()

    await execution.detach()
    server.start()
    await client.call("list", {})

    expect(server.seen("attach")).toEqual([])
  })
})
