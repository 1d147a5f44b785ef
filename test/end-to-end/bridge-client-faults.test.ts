import { describe, expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { BridgeProcess } from "../support/bridge-process.ts"
import { BridgeTalk, envelope } from "../support/bridge-talk.ts"
import { exampleOverHttp, exampleOverSocket } from "../support/example-server.ts"
import { HttpSession } from "../support/http-session.ts"
import { socketTarget } from "../support/scripted-target.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { until } from "../support/until.ts"

const example = [process.execPath, join(import.meta.dir, "../fixtures/example-mcp-server.ts")]

describe("a bridge that is killed and started again", () => {
  test.each(["ws", "http", "stdio"])(
    "serves the sessions there were, with a target over %s",
    async (kind) => {
      await using stack = new AsyncDisposableStack()
      const target =
        kind === "stdio"
          ? ["--", ...example]
          : ["--to", stack.use(kind === "ws" ? exampleOverSocket() : exampleOverHttp()).url]
      const bridge = stack.use(await BridgeProcess.start(["--listen", "http:0", ...target]))
      const session = new HttpSession(await bridge.listening)
      await session.open()
      expect(await session.call("add", { a: 1, b: 1 })).toBe("2")

      bridge.kill("SIGKILL")
      await bridge.exited
      const { port } = new URL(session.url)
      stack.use(await BridgeProcess.start(["--listen", `http:${port}`, ...target]))

      expect(await session.call("add", { a: 2, b: 2 })).toBe("4")
      expect(await session.call("count", { to: 2 })).toBe("counted to 2")
    },
  )
})

describe("a session over HTTP", () => {
  test("ends when its client says so, and is not served again", async () => {
    using target = exampleOverSocket()
    await using bridge = await BridgeProcess.start(["--listen", "http:0", "--to", target.url])
    const session = new HttpSession(await bridge.listening)
    await session.open()

    const headers = { "mcp-session-id": session.id ?? "" }
    const ended = await fetch(session.url, { method: "DELETE", headers })
    const again = await session.post({ jsonrpc: "2.0", id: 9, method: "ping" })

    expect(ended.status).toBe(200)
    expect(again.status).toBe(404)
  })

  test("is put away when nobody uses it, and opened again when somebody does", async () => {
    using target = exampleOverSocket()
    const argv = ["--listen", "http:0", "--to", target.url, "--max-connections", "1"]
    await using bridge = await BridgeProcess.start(argv)
    const first = new HttpSession(await bridge.listening)
    const second = new HttpSession(await bridge.listening)

    await first.open()
    await second.open()

    expect(await first.call("add", { a: 1, b: 1 })).toBe("2")
    expect(await second.call("add", { a: 2, b: 1 })).toBe("3")
    expect(target.opened()).toBe(4)
  })

  test.each([
    ["no session id", {}, 400],
    ["somebody else's", { "mcp-session-id": "0f8fad5b-d9cb-469f-a165-70867728950e" }, 404],
    ["one that is too long", { "mcp-session-id": "A".repeat(6_000) }, 404],
  ])("is refused with %s", async (_, headers, status) => {
    using target = exampleOverSocket()
    await using bridge = await BridgeProcess.start(["--listen", "http:0", "--to", target.url])

    const session = new HttpSession(await bridge.listening)
    const refused = await session.post({ jsonrpc: "2.0", id: 1, method: "ping" }, headers)

    expect(refused.status).toBe(status)
    expect(target.opened()).toBe(0)
  })

  test("has answers to a batch, each by itself", async () => {
    using target = exampleOverSocket()
    await using bridge = await BridgeProcess.start(["--listen", "http:0", "--to", target.url])
    const session = new HttpSession(await bridge.listening)
    await session.open()

    const ping = (id: number) => ({ jsonrpc: "2.0", id, method: "ping" })
    const text = await (await session.post([ping(11), ping(12)])).text()

    const ids = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? "").id)
    expect(new Set(ids)).toEqual(new Set([11, 12]))
  })

  test("hears by its own stream what the server says by itself", async () => {
    using target = socketTarget((socket, { id, method }) => {
      if (id !== undefined) socket.send(`{"jsonrpc":"2.0","id":${id},"result":{}}`)
      if (method === "ping") socket.send(`{"jsonrpc":"2.0","method":"notifications/news"}`)
    })
    await using bridge = await BridgeProcess.start(["--listen", "http:0", "--to", target.url])
    const session = new HttpSession(await bridge.listening)
    await session.open()
    await session.ask("ping")

    const headers = { "mcp-session-id": session.id ?? "", accept: "text/event-stream" }
    const stream = await fetch(session.url, { headers })
    const news = stream.body?.getReader()
    const heard = async () => Buffer.from((await news?.read())?.value ?? []).toString("utf8")

    expect(await heard()).toContain("notifications/news") // from before there was a stream
    await session.ask("ping")
    expect(await heard()).toContain("notifications/news")
    await news?.cancel()
  })
})

describe("a request over HTTP", () => {
  const ping = { jsonrpc: "2.0", id: 1, method: "ping", params: { _meta: envelope } }
  const json = { "content-type": "application/json" }
  test.each<[string, number, RequestInit]>([
    ["that is no JSON", 400, { body: "{", headers: json }],
    ["that is no message", 400, { body: "{}", headers: json }],
    ["of another type", 415, { body: "x", headers: { "content-type": "text/plain" } }],
    ["that is too large", 413, { body: "x".repeat(70_000), headers: json }],
    ["with another method than PUT", 405, { method: "PUT", body: "x", headers: json }],
    [
      "whose header names another method",
      400,
      { body: JSON.stringify(ping), headers: { ...json, ...modernHeaders("tools/call") } },
    ],
    [
      "whose header names another revision",
      400,
      {
        body: JSON.stringify(ping),
        headers: { ...json, ...modernHeaders("ping"), "mcp-protocol-version": "2025-06-18" },
      },
    ],
    ["without the headers of its era", 400, { body: JSON.stringify(ping), headers: json }],
    [
      "without an envelope",
      400,
      {
        body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
        headers: { ...json, ...modernHeaders("ping") },
      },
    ],
  ])("%s is refused with %d", async (_, status, init) => {
    using target = exampleOverSocket()
    const argv = ["--listen", "http:0", "--to", target.url, "--max-message-bytes", "64k"]
    await using bridge = await BridgeProcess.start(argv)

    const refused = await fetch(await bridge.listening, { method: "POST", ...init })

    expect(refused.status).toBe(status)
    expect(target.opened()).toBe(0)
  })

  test.each(["ws", "stdio"])(
    "whose stream is closed is cancelled at a target over %s",
    async (kind) => {
      using folder = temporaryFolder()
      const notes = join(folder.path, "notes")
      using socket = exampleOverSocket({ notes })
      const target = kind === "ws" ? ["--to", socket.url] : ["--", ...example]
      const env = { ...process.env, NOTES: notes }
      await using bridge = await BridgeProcess.start(["--listen", "http:0", ...target], env)
      const leave = new AbortController()
      const noted = (text: string) =>
        existsSync(notes) && readFileSync(notes, "utf8").includes(text)

      const params = { name: "hang", arguments: {}, _meta: envelope }
      const left = fetch(await bridge.listening, {
        method: "POST",
        headers: { ...json, ...modernHeaders("tools/call"), "mcp-name": "hang" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
        signal: leave.signal,
      }).then(
        () => "answered",
        () => "left",
      )
      await until("it hangs", () => noted("hang began"))
      leave.abort()

      await until("it is cancelled", () => noted("hang was cancelled"))
      expect(await left).toBe("left")
    },
  )
})

describe("a client on standard input", () => {
  test("that uses an id twice at once is told, and the first is answered", async () => {
    using target = exampleOverSocket()
    await using talk = new BridgeTalk(["--to", target.url])
    await talk.open()

    const hang = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"hang"}}`
    await talk.send(`${hang}\n${hang}`)

    const { error } = await until("a refusal", () => talk.answers.find(({ id }) => id === 7))
    expect(error.data.reason).toBe("DUPLICATE_ID")
  })

  test("gets errors for garbage and too much, and answers for the rest", async () => {
    using target = exampleOverSocket()
    await using talk = new BridgeTalk(["--to", target.url, "--max-message-bytes", "64k"])

    await talk.send(`garbage\n[1]\n"${"x".repeat(70_000)}"`)
    await talk.open()

    const codes = talk.answers.map(({ id, error }) => [id, error?.code])
    expect(codes).toEqual([
      [null, -32700],
      [null, -32600],
      [null, -32600],
      [1, undefined],
    ])
  })

  test("sends a batch, and gets an answer to each of it", async () => {
    using target = exampleOverSocket()
    await using talk = new BridgeTalk(["--to", target.url])
    await talk.open()

    await talk.send(
      `[{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","id":6,"method":"ping"}]`,
    )

    await until("both answers", () => talk.answers.length === 3)
    expect(talk.answers.map(({ id }) => id)).toEqual([1, 5, 6])
  })

  test("that leaves in the middle of a call ends the bridge and the server", async () => {
    using folder = temporaryFolder()
    const notes = join(folder.path, "notes")
    const env = { ...process.env, NOTES: notes }
    await using talk = new BridgeTalk(["--", ...example], env)
    await talk.open()
    await talk.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hang"}}`)
    await until("it hangs", () => existsSync(notes))
    const { pid } = talk.transport.program
    const children = await childrenOf(pid)

    await talk.transport.close()

    expect(talk.transport.program.exitCode).toBe(0)
    expect(children.length).toBeGreaterThan(0)
    expect(children.filter((child) => existsSync(`/proc/${child}`))).toEqual([])
  }, 60_000)
})

function modernHeaders(method: string): Record<string, string> {
  return { "mcp-protocol-version": "2026-07-28", "mcp-method": method }
}

/** All processes that a process has started, and theirs. */
async function childrenOf(pid: number): Promise<number[]> {
  const listed = Bun.spawn(["ps", "-eo", "pid=,ppid="], { stdout: "pipe" })
  const rows = (await listed.stdout.text())
    .trim()
    .split("\n")
    .map((row) => row.trim().split(/\s+/).map(Number))
  const own = rows.filter(([, parent]) => parent === pid).map(([child = 0]) => child)
  const theirs = await Promise.all(own.map((child) => childrenOf(child)))
  return [...own, ...theirs.flat()]
}
