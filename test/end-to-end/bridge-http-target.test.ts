import { describe, expect, test } from "bun:test"
import { BridgeTalk, envelope } from "../support/bridge-talk.ts"
import { exampleOverHttp } from "../support/example-server.ts"
import { httpTarget, result, tcpTarget } from "../support/scripted-target.ts"
import { until } from "../support/until.ts"

const key = "cc-executor/idempotency-key"
const head = (type: string) => `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n`

describe("a target over HTTP", () => {
  test("is asked again after 502, 503 and 504", async () => {
    const statuses = [502, 503, 504]
    using target = httpTarget(({ message }, turn) => {
      const status = statuses[turn - 1]
      return status === undefined ? result(message.id) : new Response("", { status })
    })
    await using talk = new BridgeTalk(["--to", target.url])

    expect((await talk.ask("ping")).result).toEqual({})

    expect(target.seen).toHaveLength(4)
  })

  test.each([400, 401, 403, 404, 500])("is not asked again after %d", async (status) => {
    using target = httpTarget(() => new Response("because of this", { status }))
    await using talk = new BridgeTalk(["--to", target.url])

    const { error } = await talk.ask("ping")

    expect(error.message).toContain(`${status}: because of this`)
    expect(target.seen).toHaveLength(1)
  })

  test("is believed when it refuses with an answer of its own", async () => {
    const refusal = { code: -32022, message: "unsupported", data: { supported: ["x"] } }
    using target = httpTarget(({ message }) =>
      Response.json({ jsonrpc: "2.0", id: message.id, error: refusal }, { status: 400 }),
    )
    await using talk = new BridgeTalk(["--to", target.url])

    expect((await talk.ask("server/discover", { _meta: envelope })).error).toEqual(refusal)
  })

  test("that resets before any byte gets the same call again, with the same key", async () => {
    using target = await tcpTarget((socket, turn, text) => {
      if (turn === 1) return void socket.destroy()
      const body = JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(text).id, result: {} })
      socket.end(`${head("application/json")}content-length: ${body.length}\r\n\r\n${body}`)
    })
    await using talk = new BridgeTalk(["--to", target.url])

    expect((await talk.call("any")).result).toEqual({})

    const [first = "", second = ""] = target.texts
    expect(second.replace(/"cc-executor\/waited-ms":\d+,/, "")).toBe(first)
    expect(JSON.parse(second).params._meta["cc-executor/waited-ms"]).toBeGreaterThan(0)
    expect(JSON.parse(first).params._meta[key]).toMatch(/^[0-9a-f]{32}$/)
  })

  test("gets no call again whose tool says that twice is not once", async () => {
    const tools = [{ name: "pay", annotations: { idempotentHint: false }, inputSchema: {} }]
    using target = await tcpTarget((socket, turn, text) => {
      if (turn > 1) return void socket.destroy()
      const { id } = JSON.parse(text)
      const body = JSON.stringify({ jsonrpc: "2.0", id, result: { tools } })
      socket.end(`${head("application/json")}content-length: ${body.length}\r\n\r\n${body}`)
    })
    await using talk = new BridgeTalk(["--to", target.url])
    await talk.ask("tools/list")

    const { error } = await talk.call("pay")

    expect(error.data.reason).toBe("MAY_HAVE_BEEN_DONE")
    expect(error.message).toContain("pay")
    expect(target.texts).toHaveLength(2)
  })

  const half = 'data: {"jsonrpc":"2.0","id":1,"resu'
  const progress = `data: ${JSON.stringify({
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: { progressToken: "t", progress: 1 },
  })}\n\n`
  test.each([
    ["half an event, then a reset", half],
    ["progress, then a reset", progress],
    ["progress and half an event", progress + half],
  ])("that answers %s is not asked again, and the client is told", async (_, body) => {
    const isReset = Promise.withResolvers<void>()
    using target = await tcpTarget((socket) => {
      const chunk = `${body.length.toString(16)}\r\n${body}\r\n`
      const encoding = "transfer-encoding: chunked\r\n\r\n"
      socket.write(`${head("text/event-stream")}${encoding}${chunk}`)
      void isReset.promise.then(() => socket.destroy())
    })
    await using talk = new BridgeTalk(["--to", target.url])
    const told = () => talk.answers.filter(({ method }) => method !== undefined).length

    const asked = talk.ask("tools/call", { name: "x", _meta: { progressToken: "t" } })
    await until("it was asked, and progress passed on", () => {
      return target.texts.length === 1 && told() === (body.startsWith(progress) ? 1 : 0)
    })
    isReset.resolve()
    const { error } = await asked

    expect(error.data.reason).toBe("CONNECTION_LOST")
    expect(target.texts).toHaveLength(1)
    expect(told()).toBe(body.startsWith(progress) ? 1 : 0)
  })

  test.each([
    ["JSON that is none", "application/json", "{", "TARGET_UNREADABLE"],
    ["a page", "text/html", "<p>hello", "TARGET_UNREADABLE"],
    ["somebody else's answer", "application/json", '{"id":99,"result":{}}', "TARGET_UNREADABLE"],
    ["nothing", "application/json", "", "TARGET_REFUSED"],
    ["a message without end", "application/json", "x".repeat(70_000), "TARGET_UNREADABLE"],
    ["an event without end", "text/event-stream", "x".repeat(70_000), "TARGET_UNREADABLE"],
  ])("that answers with %s is not believed", async (_, type, body, reason) => {
    using target = httpTarget(() => new Response(body, { headers: { "content-type": type } }))
    await using talk = new BridgeTalk(["--to", target.url, "--max-message-bytes", "64k"])

    expect((await talk.ask("ping")).error.data.reason).toBe(reason)

    expect(target.seen).toHaveLength(1)
  })

  test("that names things by what is no name is survived", async () => {
    const strange = { toString: 1, valueOf: 2 }
    const error = { code: strange, message: strange }
    using target = httpTarget(() => Response.json({ id: null, error }, { status: 400 }))
    await using talk = new BridgeTalk(["--to", target.url])

    const first = await talk.ask("tools/call", { name: strange })
    const second = await talk.ask("ping")

    expect(first.error.data.reason).toBe("TARGET_REFUSED")
    expect(second.error.data.reason).toBe("TARGET_REFUSED")
  })

  test("that points elsewhere is not followed: the token is for nobody else", async () => {
    using other = httpTarget(({ message }) => result(message.id))
    using target = httpTarget(() => Response.redirect(other.url, 307))
    const env = { ...process.env, CC_EXECUTOR_TOKEN: "secret-of-the-target" }
    await using talk = new BridgeTalk(["--to", target.url], env)

    expect((await talk.ask("ping")).error.data.reason).toBe("TARGET_REFUSED")

    expect(target.seen[0]?.headers.get("authorization")).toBe("Bearer secret-of-the-target")
    expect(other.seen).toHaveLength(0)
  })

  test("that cuts a stream goes on with it where it said how", async () => {
    const events = (text: string) =>
      new Response(text, { headers: { "content-type": "text/event-stream" } })
    const gets: (string | null)[] = []
    using target = httpTarget(({ method, message, headers }) => {
      if (method === "POST") return events(`id: place-1\nretry: 10\ndata:\n\n`)
      gets.push(headers.get("last-event-id"))
      if (gets.length === 1) return events(`id: place-2\nretry: 10\ndata:\n\n`)
      return events(`data: {"jsonrpc":"2.0","id":${message.id ?? 1},"result":{"late":true}}\n\n`)
    })
    await using talk = new BridgeTalk(["--to", target.url])

    expect((await talk.ask("ping")).result).toEqual({ late: true })

    expect(gets).toEqual(["place-1", "place-2"])
    expect(target.seen).toHaveLength(1)
  })

  test("that forgot its session gets it opened again, and the client notices nothing", async () => {
    using target = exampleOverHttp()
    await using talk = new BridgeTalk(["--to", target.url])
    await talk.open()
    expect((await talk.call("add", { a: 1, b: 2 })).result.content[0].text).toBe("3")

    target.forget()

    expect((await talk.call("add", { a: 2, b: 2 })).result.content[0].text).toBe("4")
    expect(target.opened()).toBe(2)
    expect(talk.answers.filter(({ id }) => typeof id === "string")).toEqual([])
  })
})
