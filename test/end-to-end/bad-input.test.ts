import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Bystanders } from "../support/bystanders.ts"
import { RawSession } from "../support/raw-session.ts"
import { clientFrame, TcpTalk, textOpcode } from "../support/tcp-talk.ts"

let bystanders: Bystanders
let session: RawSession

beforeAll(async () => {
  bystanders = await Bystanders.start()
  session = bystanders.session
})

afterAll(async () => {
  await bystanders[Symbol.asyncDispose]()
})

describe("a message that is no request", () => {
  const noJson = { code: -32700, data: { reason: "PARSE_ERROR" } }
  const noRequest = { code: -32600, data: { reason: "INVALID_REQUEST" } }
  const call = { jsonrpc: "2.0", method: "list" }

  const messages: [string, string, object][] = [
    ["nothing at all", "", noJson],
    ["words", "hello", noJson],
    ["JSON that is cut off", '{"jsonrpc":"2.0","id":1,"method":"li', noJson],
    ["two requests in one message", `${JSON.stringify(call)}${JSON.stringify(call)}`, noJson],
    ["a hundred thousand brackets", "[".repeat(100_000), noJson],
    ["seven million brackets", "[".repeat(7_000_000), noJson],
    ["null", "null", noRequest],
    ["a number", "42", noRequest],
    ["a string", '"list"', noRequest],
    ["a batch", JSON.stringify([{ ...call, id: 1 }]), noRequest],
    ["an empty batch", "[]", noRequest],
    ["an object without a method", '{"jsonrpc":"2.0"}', noRequest],
    ["JSON-RPC 1.0", '{"jsonrpc":"1.0","method":"list"}', noRequest],
    ["no version", '{"method":"list"}', noRequest],
    ["a method that is a number", '{"jsonrpc":"2.0","method":7}', noRequest],
    ["an id that is an object", JSON.stringify({ ...call, id: {} }), noRequest],
    ["an id that is null", JSON.stringify({ ...call, id: null }), noRequest],
  ]
  test.each(messages)("%s is refused", async (_, message, refusal) => {
    const error = await bystanders.untouchedBy(async () => {
      session.send(message)
      return session.refusalOf(null)
    })

    expect(error).toMatchObject(refusal)
    expect(error.message).not.toBe("")
  })

  test("is answered with its id where that can be read", async () => {
    session.send('{"jsonrpc":"2.0","id":"mine"}')
    expect(await session.refusalOf("mine")).toMatchObject(noRequest)
  })

  test("is closed upon when its text is not UTF-8", async () => {
    const url = await bystanders.service.url()
    await bystanders.untouchedBy(async () => {
      using talk = await TcpTalk.connect(url)
      await talk.upgrade(url)
      talk.write(clientFrame(textOpcode, Uint8Array.of(0x22, 0xc3, 0x28, 0x22)))
      await talk.closed
    })
  })

  test("is not JSON either when it is arbitrary bytes in a binary frame", async () => {
    session.send(Uint8Array.of(0xff, 0xfe, 0x00))
    expect(await session.refusalOf(null)).toMatchObject(noJson)
  })

  test("is a request all the same in a binary frame", async () => {
    session.send(Buffer.from(JSON.stringify({ ...call, id: "binary" })))
    expect(await session.response("binary")).toHaveProperty("result")
  })
})

describe("a request without an id", () => {
  test("is not answered, whatever is wrong with it", async () => {
    await bystanders.untouchedBy(async () => {
      session.send('{"jsonrpc":"2.0","method":"no such method"}')
      session.send('{"jsonrpc":"2.0","method":"execute","params":{"argv":[]}}')
      await session.call("list", {})
    })
    using other = await RawSession.open(await bystanders.service.url())
    other.send('{"jsonrpc":"2.0","method":"execute","params":{}}')
    await other.call("list", {})
    expect(other.said.map(({ method }) => method)).toEqual(["connected"])
  })
})

describe("a method that does not exist", () => {
  test.each([["rm"], [""], ["toString"], ["__proto__"], ["process.started"], ["EXECUTE"]])(
    "%p is refused",
    async (method) => {
      const error = await bystanders.untouchedBy(() => session.refused(method, {}))
      expect(error).toMatchObject({ code: -32601, data: { reason: "METHOD_NOT_FOUND" } })
    },
  )
})

describe("parameters of the wrong type", () => {
  const id = "a".repeat(26)
  const wrong: Record<string, unknown[]> = {
    execute: [
      {},
      { command: 7 },
      { command: "" },
      { argv: "ls" },
      { argv: [] },
      { argv: ["echo", 1] },
      { command: "echo", argv: ["echo"] },
      { argv: ["echo"], shell: true },
      { command: "echo", shell: "yes" },
      { command: "echo", cwd: 1 },
      { command: "echo", env: ["A=1"] },
      { command: "echo", env: { A: 1 } },
      { command: "echo", env: { "A=B": "1" } },
      { command: "echo", env: { "": "1" } },
      { command: "echo", stdin: "open" },
      { command: "echo", terminal: true },
      { command: "echo", terminal: { cols: 0, rows: 1 } },
      { command: "echo", terminal: { cols: 80, rows: 24 }, budget: { policy: "block" } },
      { command: "echo", timeout: "1" },
      { command: "echo", timeout: 0 },
      { command: "echo", timeout: -1 },
      { command: "echo", idle_timeout: 1e12 },
      { command: "echo", budget: { bytes: 1 } },
      { command: "echo", budget: { lines: 1.5 } },
      { command: "echo", budget: { policy: "drop" } },
      { command: "echo", limits: { memory: -1 } },
      { command: "echo", encoding: "latin1" },
      { command: "echo", idempotency_key: "" },
      { command: "echo", on_disconnect: "stop" },
      { command: "echo", labels: { a: 1 } },
      { command: "echo", labels: { ["a".repeat(65)]: "" } },
    ],
    control: [
      {},
      { type: "STOP" },
      { type: "cancel" },
      { type: "PAUSE", execution_id: 5 },
      { type: "PAUSE", execution_id: "" },
      { type: "SIGNAL", execution_id: id },
      { type: "PAUSE", execution_id: id, signal: "TERM" },
      { type: "SIGNAL", execution_id: id, signal: 0 },
      { type: "SIGNAL", execution_id: id, signal: 65 },
    ],
    input: [
      {},
      { execution_id: id, data: 1 },
      { execution_id: id, data: "a", encoding: "hex" },
      { execution_id: id, data: "a", offset: -1 },
      { execution_id: id, data: "a", end: "yes" },
      { execution_id: id, data: "a", encoding: "base64" },
      { execution_id: id, data: "$$$$", encoding: "base64" },
    ],
    resize: [{}, { execution_id: id }, { execution_id: id, cols: 0, rows: 1 }],
    attach: [
      {},
      { execution_id: id, role: "owner" },
      { execution_id: id, encoding: "hex" },
      { execution_id: id, from: 0 },
      { execution_id: id, from: "" },
    ],
    detach: [{}, { execution_id: null }],
    ack: [{}, { execution_id: id }, { execution_id: id, next: 5 }],
    watch: [{ labels: "all" }, { labels: { a: 1 } }],
    remove: [{}, { execution_id: ["all"] }],
    list: [{ state: "done" }, { limit: 0 }, { limit: 1001 }, { limit: "10" }, { cursor: 1 }],
    status: [{}, { execution_id: 1 }, { execution_id: "x".repeat(257) }],
    receipt: [{}, { execution_id: {} }],
    "transcript.read": [
      {},
      { execution_id: id, limit_bytes: 0 },
      { execution_id: id, limit_bytes: 1e9 },
      { execution_id: id, encoding: "binary" },
    ],
    "transcript.verify": [{}, { execution_id: id, contains: "" }, { execution_id: id, hash: 1 }],
  }

  test.each(Object.entries(wrong))("of %s are refused with their place", async (method, all) => {
    await bystanders.untouchedBy(async () => {
      for (const params of [...all, "text", 7, [1], true]) {
        const error = await session.refused(method, params)
        const said = { params, code: error.code, reason: error.data.reason }
        expect(said).toEqual({ params, code: -32602, reason: "INVALID_PARAMS" })
      }
    })
  })

  test("say what is wrong with them", async () => {
    const error = await session.refused("execute", { command: "echo", timeout: "soon" })
    expect(error.message).toContain("timeout")
    expect(error.data["issues"]).toMatchObject([{ path: ["timeout"] }])
  })
})

describe("a place in the output that is none", () => {
  test.each([["nonsense"], ["1.2"], ["1.0.0.zz.0.0"], ["tail:-1"], ["since:yesterday"]])(
    "%p is refused",
    async (from) => {
      const execution_id = bystanders.ended
      for (const method of ["attach", "transcript.read"]) {
        const error = await bystanders.untouchedBy(() =>
          session.refused(method, { execution_id, from }),
        )
        expect(error).toMatchObject({ code: -32602, data: { reason: "INVALID_PARAMS" } })
      }
    },
  )

  test("is refused as a page of the list and as an acknowledgement too", async () => {
    const wrongPage = await session.refused("list", { cursor: "nonsense" })
    const execution_id = bystanders.running
    const wrongAck = await session.refused("ack", { execution_id, next: "nonsense" })
    for (const error of [wrongPage, wrongAck]) {
      expect(error).toMatchObject({ code: -32602, data: { reason: "INVALID_PARAMS" } })
    }
  })
})
