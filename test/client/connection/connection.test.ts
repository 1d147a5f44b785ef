import { describe, expect, test } from "bun:test"
import {
  CallError,
  ClientClosedError,
  ConnectionLostError,
} from "../../../src/client/client-error.ts"
import type { Client, ClientOptions } from "../../../src/client/connect.ts"
import type { ConnectionState } from "../../../src/client/connection/connection.ts"
import { failure } from "../../../src/protocol/failure.ts"
import { allEvents, quickClient, rejection } from "../../support/following.ts"
import { ScriptedServer } from "../../support/scripted-server.ts"

describe("a client", () => {
  test("is greeted, and says so", async () => {
    await using server = new ScriptedServer()
    const { client, states } = observed(server.url)
    await using _client = client

    const greeting = await client.connected

    expect(greeting.session_id).toBe("session-1")
    expect(states).toEqual([{ kind: "connecting" }, { kind: "connected", sessionId: "session-1" }])
  })

  test("comes back to a server that restarts", async () => {
    await using server = new ScriptedServer()
    const { client, states } = observed(server.url)
    await using _client = client
    await client.connected

    await server.stop()
    server.start()
    await client.call("list", {})

    const sessions = states.flatMap((state) => (state.kind === "connected" ? state.sessionId : []))
    expect(sessions).toEqual(["session-1", "session-2"])
    expect(states[2]).toMatchObject({ kind: "waiting", attempt: 1 })
  })

  test("waits its turn when there are too many sessions", async () => {
    await using server = new ScriptedServer()
    const full = failure("SESSION_LIMIT", "100 sessions are open.")
    server.nextGreeting({ kind: "refuse", failure: full }, { kind: "refuse", failure: full })
    const { client, states } = observed(server.url)
    await using _client = client

    expect((await client.connected).session_id).toBe("session-3")
    expect(states.filter((state) => state.kind === "waiting")).toMatchObject([
      { attempt: 1, why: "100 sessions are open." },
      { attempt: 2, why: "100 sessions are open." },
    ])
  })

  test.each(["UNAUTHORIZED", "FORBIDDEN"] as const)(
    "does not knock twice at %s",
    async (reason) => {
      await using server = new ScriptedServer()
      server.nextGreeting({ kind: "refuse", failure: failure(reason, "Who are you?") })
      const { client, states } = observed(server.url)
      await using _client = client
      const calling = rejection(client.call("list", {}))

      const error = await rejection(client.connected)

      expect(error).toBeInstanceOf(CallError)
      expect(error).toMatchObject({ failure: { reason } })
      expect(await calling).toBe(error)
      expect(states.at(-1)).toEqual({ kind: "closed", why: "Who are you?" })
      expect(server.sessions).toBe(1)
    },
  )

  test("does not wait for ever for a greeting", async () => {
    await using server = new ScriptedServer()
    server.nextGreeting({ kind: "silent" })
    const { client, states } = observed(server.url, { limits: { greetingMs: 20 } })
    await using _client = client

    expect((await client.connected).session_id).toBe("session-2")
    expect(states[1]).toMatchObject({ kind: "waiting", why: "no greeting came within 20 ms" })
  })

  test.each([
    ["text", "hello"],
    ["a frame of another version", new Uint8Array([9, 1, 0, 1, 0, 0, 0, 0])],
    ["a greeting without a session", `{"jsonrpc":"2.0","method":"connected","params":{}}`],
  ])("leaves a server that sends %s, and tries again", async (_, data) => {
    await using server = new ScriptedServer()
    server.nextGreeting({ kind: "say", data })
    const { client, states } = observed(server.url)
    await using _client = client

    await client.connected

    expect(states[1]).toMatchObject({ kind: "waiting" })
  })

  test("leaves a server that has fallen silent", async () => {
    await using server = new ScriptedServer()
    const limits = { silenceMs: 20, silenceAnswerMs: 20 }
    const { client, states } = observed(server.url, { limits })
    await using _client = client
    await client.connected

    server.next("list", { kind: "hold" })
    await server.until(() => server.sessions === 2)

    expect(states[2]).toMatchObject({ kind: "waiting" })
    expect(states[2]).toHaveProperty("why", expect.stringContaining("silent for 20 ms"))
  })

  test("takes its time to connect, however short a silence may be", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url, { limits: { silenceMs: 1 } })
    Bun.sleepSync(20) // the socket opens only after this

    await client.connected

    expect(server.sessions).toBe(1)
  })

  test("stays with a server that answers when asked", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url, {
      limits: { silenceMs: 5, silenceAnswerMs: 2500 },
    })
    await client.connected

    await server.until(() => server.seen("list").length === 3)

    expect(server.sessions).toBe(1)
  })

  test("stays with a server whose answer it was too busy to read in time", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url, {
      limits: { silenceMs: 5, silenceAnswerMs: 200 },
    })
    await client.connected

    await server.until(() => server.seen("list").length === 1)
    Bun.sleepSync(300)
    await server.until(() => server.seen("list").length === 3)

    expect(server.sessions).toBe(1)
  })

  test("gives up where it was told to", async () => {
    await using server = new ScriptedServer()
    await server.stop()
    const reconnect = { firstDelayMs: 1, maxDelayMs: 5, giveUpAfterMs: 30 }
    const { client, states } = observed(server.url, { reconnect })
    await using _client = client

    const error = await rejection(client.call("list", {}))

    expect(error).toBeInstanceOf(ConnectionLostError)
    expect(await rejection(client.connected)).toBe(error)
    expect(states.at(-1)).toMatchObject({ kind: "closed" })
  })

  test("refuses an address that is none", () => {
    expect(() => quickClient("localhost")).toThrow(TypeError)
  })
})

describe("closing", () => {
  test("ends everything that was going on", async () => {
    await using server = new ScriptedServer()
    const client = quickClient(server.url)
    const execution = await client.execute({ command: "scripted" })
    const reading = rejection(allEvents(execution))
    const watch = client.watch()
    await watch.ready
    const watching = rejection(Array.fromAsync(watch))

    await client.close()

    expect(await reading).toBeInstanceOf(ClientClosedError)
    expect(await rejection(execution.ended)).toBeInstanceOf(ClientClosedError)
    expect(await watching).toBeInstanceOf(ClientClosedError)
    await server.until(() => server.sockets.size === 0)
  })

  test("works before there is a connection, and twice", async () => {
    await using server = new ScriptedServer()
    await server.stop()
    const { client, states } = observed(server.url)

    await Promise.all([client.close(), client.close()])

    expect(await rejection(client.connected)).toBeInstanceOf(ClientClosedError)
    expect(states.filter((state) => state.kind === "closed")).toHaveLength(1)
  })
})

describe("a client that a server asked to wait for an hour", () => {
  const later = failure("RATE_LIMITED", "Not so fast.", { retry_after: 3600 })

  test("is closed at once all the same, with everything that waited", async () => {
    await using server = new ScriptedServer()
    const { client } = observed(server.url)
    const execution = await client.execute({ command: "scripted" })
    server.next("list", { kind: "cut" }, { kind: "refuse", failure: later })
    server.next("attach", { kind: "refuse", failure: later })
    server.next("watch", { kind: "refuse", failure: later })
    const waiting = [
      client.call("list", {}),
      Array.fromAsync(client.watch()),
      Array.fromAsync(execution.output()),
      execution.ended,
    ].map(rejection)
    await server.until(() => server.seen("list").length === 2 && server.seen("attach").length === 1)
    await server.until(() => server.seen("watch").length >= 1)

    await client.close()

    for (const error of await Promise.all(waiting)) expect(error).toBeInstanceOf(ClientClosedError)
  })
})

function observed(
  url: string,
  options: Partial<ClientOptions> = {},
): { client: Client; states: ConnectionState[] } {
  const states: ConnectionState[] = []
  const onConnection = (state: ConnectionState) => {
    states.push(state)
  }
  return { client: quickClient(url, { onConnection, ...options }), states }
}
