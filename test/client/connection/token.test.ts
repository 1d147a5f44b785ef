import { describe, expect, test } from "bun:test"
import { CallError } from "../../../src/client/client-error.ts"
import { failure } from "../../../src/protocol/failure.ts"
import { quickClient, rejection } from "../../support/following.ts"
import { guarded } from "../../support/guarded.ts"
import { ScriptedServer } from "../../support/scripted-server.ts"

const unknown = failure("UNAUTHORIZED", "This token is not known.")

describe("a client with a token", () => {
  test("is let in, and shows it again after a cut", async () => {
    await using server = new ScriptedServer()
    const guard = guarded(server, "secret", unknown)
    await using client = quickClient(server.url, { token: "secret" })
    await client.connected

    server.cut()
    await server.until(() => server.sessions === 2)
    await client.call("list", {})

    expect(guard.shown).toEqual(["Bearer secret", "Bearer secret"])
  })

  test("asks for a new one for every socket, and may wait for it", async () => {
    await using server = new ScriptedServer()
    const guard = guarded(server, "first", unknown)
    const tokens = ["first", "second"]
    await using client = quickClient(server.url, {
      token: () => Promise.resolve(tokens.shift() ?? "none"),
    })
    await client.connected

    guard.token = "second"
    server.cut()
    await server.until(() => server.sessions === 2)
    await client.call("list", {})

    expect(guard.shown).toEqual(["Bearer first", "Bearer second"])
  })

  test("hands it to whoever opens its sockets", async () => {
    await using server = new ScriptedServer()
    const guard = guarded(server, "secret", unknown)
    await using client = quickClient(server.url, {
      token: "secret",
      openSocket: async (url, headers) => new WebSocket(url, { headers }),
    })

    await client.connected

    expect(guard.shown).toEqual(["Bearer secret"])
  })

  test("can be closed while the token is still awaited", async () => {
    await using server = new ScriptedServer()
    const client = quickClient(server.url, { token: () => new Promise<string>(() => undefined) })

    await client.close()

    expect(server.sessions).toBe(0)
  })

  test.each(["", "two words", "line\nbreak", "ümlaut"])(
    "%j is refused here, without a word of it",
    async (token) => {
      await using server = new ScriptedServer()
      await using client = quickClient(server.url, { token })

      const error = await rejection(client.connected)

      expect(error).toBeInstanceOf(TypeError)
      expect(String(error)).toContain("no header can carry")
      expect(server.sessions).toBe(0)
    },
  )

  test("is closed for good when there is none to be had", async () => {
    await using server = new ScriptedServer()
    await using client = quickClient(server.url, {
      token: () => Promise.reject(new Error("the vault is sealed")),
    })

    expect(String(await rejection(client.connected))).toContain("the vault is sealed")
  })
})

describe("a socket that the server would not open", () => {
  test.each([
    ["UNAUTHORIZED", "401"],
    ["FORBIDDEN", "403"],
  ] as const)("for %s is not tried twice", async (reason, status) => {
    await using server = new ScriptedServer()
    const guard = guarded(server, "good", failure(reason, "No."))
    await using client = quickClient(server.url, { token: "bad" })

    const error = await rejection(client.connected)

    expect(error).toBeInstanceOf(CallError)
    expect(error).toMatchObject({ failure: { reason } })
    expect(String(error)).toContain(`refused the connection (${status})`)
    expect(String(error)).not.toContain("bad")
    expect(guard.shown).toHaveLength(1)
  })

  test("is not tried again once a token that was good is not any more", async () => {
    await using server = new ScriptedServer()
    const guard = guarded(server, "secret", unknown)
    await using client = quickClient(server.url, { token: "secret" })
    await client.connected

    guard.token = null
    server.cut()
    const watch = client.watch()

    expect(await rejection(client.call("list", {}))).toMatchObject({
      failure: { reason: "UNAUTHORIZED" },
    })
    expect(await rejection(watch.ready)).toBeInstanceOf(CallError)
    expect(guard.shown).toHaveLength(2)
  })

  test("because of too many attempts is tried again later", async () => {
    await using server = new ScriptedServer()
    const guard = guarded(server, null, failure("RATE_LIMITED", "Not so fast."))
    const whys: string[] = []
    await using client = quickClient(server.url, {
      token: "secret",
      onConnection(state) {
        if (state.kind !== "waiting") return
        whys.push(state.why)
        if (whys.length === 2) guard.token = "secret"
      },
    })

    await client.connected

    expect(whys).toHaveLength(2)
    expect(whys[0]).toContain("too many attempts")
  })
})
