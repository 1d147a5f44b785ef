import { describe, expect, test } from "bun:test"
import {
  CallError,
  ClientClosedError,
  ConnectionLostError,
} from "../../../src/client/client-error.ts"
import { failure } from "../../../src/protocol/failure.ts"
import type { MethodName } from "../../../src/protocol/methods.ts"
import { allEvents, quickClient, rejection, textOf } from "../../support/following.ts"
import { type Rule, ScriptedServer } from "../../support/scripted-server.ts"

const cut: Rule = { kind: "cut" }
const serveThenCut: Rule = { kind: "serve-then-cut" }

describe("a call", () => {
  test("waits for the connection", async () => {
    await using server = new ScriptedServer()
    await server.stop()
    await using client = quickClient(server.url)

    const listing = client.call("list", {})
    server.start()

    expect(await listing).toEqual({ executions: [] })
  })

  test("that is refused rejects with the reason and its details", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const denied = failure("SECURITY_DENIED", "rm is not on the list.", { rule: "allow-list" })
    server.next("execute", { kind: "refuse", failure: denied })

    const error = await rejection(client.execute({ command: "rm" }))

    expect(error).toBeInstanceOf(CallError)
    expect(error).toMatchObject({ message: "rm is not on the list.", failure: denied })
  })

  test("can be given up by its caller", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    server.next("list", { kind: "hold" })
    const patience = new AbortController()

    const listing = client.call("list", {}, { signal: patience.signal })
    await server.until(() => server.seen("list").length === 1)
    patience.abort(new Error("enough"))

    expect(await rejection(listing)).toMatchObject({ message: "enough" })
  })

  test("that is pending when the client is closed says so", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    server.next("list", { kind: "hold" })
    const listing = rejection(client.call("list", {}))
    await server.until(() => server.seen("list").length === 1)

    await client.close()

    expect(await listing).toBeInstanceOf(ClientClosedError)
    expect(await rejection(client.call("list", {}))).toBeInstanceOf(ClientClosedError)
  })
})

describe("a call made while the socket is closing", () => {
  test("was not sent, so it is sent once on the next one", async () => {
    await using server = new ScriptedServer()
    const { openSocket, closeAll } = closableSockets()
    await using client = quickClient(server.url, { openSocket })
    const execution = await client.execute({ command: "scripted" })

    closeAll()
    const signaled = await execution.signal("SIGUSR1")

    expect(signaled).toMatchObject({ processes: 1 })
    expect(server.seen("control").map((request) => request.session)).toEqual([2])
  })

  test("is refused as if it were the first", async () => {
    await using server = new ScriptedServer()
    const { openSocket, closeAll } = closableSockets()
    await using client = quickClient(server.url, { openSocket })
    await client.connected

    closeAll()
    const error = await rejection(client.call("remove", { execution_id: "nowhere" }))

    expect(error).toMatchObject({ failure: { reason: "PROCESS_NOT_FOUND" } })
  })
})

describe("a call whose answer is lost with the connection", () => {
  test.each([cut, serveThenCut])("execute, $kind: starts one execution", async (rule) => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    server.next("execute", rule, serveThenCut)
    server.onExecute = (execution) => {
      server.write(execution, "once")
      server.complete(execution, 0)
    }

    const execution = await client.execute({ command: "scripted" })

    expect(textOf(await allEvents(execution))).toBe("once")
    expect(server.executions).toHaveLength(1)
    const keys = server.seen("execute").map((request) => request.params["idempotency_key"])
    expect(keys).toHaveLength(3)
    expect(new Set(keys).size).toBe(1)
  })

  test("execute keeps the key its caller chose", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)

    await client.call("execute", { command: "scripted", idempotency_key: "mine" })

    expect(server.seen("execute")[0]?.params).toMatchObject({ idempotency_key: "mine" })
  })

  test.each([cut, serveThenCut])("CANCEL, $kind: says what was stopped", async (rule) => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const execution = await client.execute({ command: "scripted" })
    server.next("control", rule)

    const canceled = await execution.cancel()

    expect(canceled.processes).toEqual([{ pid: 1001, signal: "SIGTERM", ms: 3 }])
    expect(canceled.survivors).toEqual([])
    expect((await execution.ended).cause).toBe("client")
  })

  test("PAUSE and RESUME are repeated", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const execution = await client.execute({ command: "scripted" })
    server.next("control", serveThenCut)
    await execution.pause()
    expect(server.executions[0]?.state).toBe("paused")

    server.next("control", serveThenCut)
    await execution.resume()

    expect(server.executions[0]?.state).toBe("running")
  })

  test("remove: gone by now means done", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const { id: execution_id } = server.add()
    server.next("remove", serveThenCut)

    await client.call("remove", { execution_id })

    expect(server.seen("remove")).toHaveLength(2)
    expect(await rejection(client.call("remove", { execution_id }))).toMatchObject({
      failure: { reason: "PROCESS_NOT_FOUND" },
    })
  })

  test("SIGNAL is not sent twice but rejects: nobody knows whether it was done", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const execution = await client.execute({ command: "scripted" })
    server.next("control", cut)

    const error = await rejection(execution.signal("SIGUSR1"))

    expect(error).toBeInstanceOf(ConnectionLostError)
    await client.call("list", {})
    expect(server.seen("control")).toHaveLength(1)
    expect(await execution.signal("SIGUSR1")).toMatchObject({ processes: 1 })
  })

  test("input without an offset is not sent twice", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const { id: execution_id } = server.add()
    server.next("input", cut)

    const error = await rejection(client.call("input", { execution_id, data: "yes\n" }))

    expect(error).toBeInstanceOf(ConnectionLostError)
  })

  test("is asked again until the refusal is about it", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const notNow = failure("RATE_LIMITED", "Not so fast.", { retry_after: 0.01 })
    server.next("execute", serveThenCut, { kind: "refuse", failure: notNow })

    const execution = await client.execute({ command: "scripted" })

    expect(execution.id).toBe(server.executions[0]?.id ?? "")
    expect(server.executions).toHaveLength(1)
  })

  const readers = ["status", "attach", "resize"] satisfies MethodName[]
  test.each(readers)("%s is simply repeated", async (method) => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url)
    const { id: execution_id } = server.add()
    server.next(method, cut, serveThenCut)

    await client.call(method, { execution_id, cols: 80, rows: 24 })

    expect(server.seen(method)).toHaveLength(3)
  })
})

function closableSockets(): { openSocket: (url: string) => WebSocket; closeAll: () => void } {
  const sockets: WebSocket[] = []
  return {
    openSocket: (url) => {
      const socket = new WebSocket(url)
      sockets.push(socket)
      return socket
    },
    closeAll: () => {
      for (const socket of sockets) socket.close()
    },
  }
}
