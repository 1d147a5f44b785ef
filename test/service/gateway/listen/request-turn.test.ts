import { afterAll, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { type Handlers, listen } from "../../../../src/service/gateway/listen/listen.ts"
import { RequestTurn } from "../../../../src/service/gateway/listen/request-turn.ts"
import { ByteTalk, type Door } from "../../../support/byte-talk.ts"
import { Authority } from "../../../support/certificates.ts"
import { temporaryFolder } from "../../../support/temporary-folder.ts"
import { until } from "../../../support/until.ts"
import { listenEvents, roomyBounds } from "./listen-setup.ts"

const authority = new Authority()
const own = authority.issue({ subject: "/CN=localhost" })

afterAll(() => authority[Symbol.dispose]())

for (const kind of ["plain", "tls"] as const) {
  describe(`over ${kind} TCP, a second request`, () => {
    test("that comes while the first is answered waits for its turn", async () => {
      using server = await serve(kind)
      using talk = new ByteTalk(server.door)

      talk.write(get("/slow/1"))
      await until("the first has begun", () => server.begun.includes("/slow/1"))
      talk.write(get("/2") + get("/3").slice(0, 10))
      await server.turnOfTheLoop()
      server.finish("/slow/1")
      await talk.hears("answer to /2")
      talk.write(get("/3").slice(10))
      await talk.hears("answer to /3")

      expect(talk.statuses).toEqual([200, 200, 200])
      expect(server.begun).toEqual(["/slow/1", "/2", "/3"])
      expect(talk.heard.indexOf("answer to /slow/1")).toBeLessThan(talk.heard.indexOf("to /2"))
    })

    test("that comes while a large answer is on its way does not cut it off", async () => {
      using server = await serve(kind)
      using talk = new ByteTalk(server.door)

      talk.write(get("/large"))
      await talk.hears("HTTP/1.1 200")
      talk.write(get("/2"))
      await talk.hears("answer to /2")

      const body = talk.heard.slice(
        talk.heard.indexOf("\r\n\r\n") + 4,
        talk.heard.lastIndexOf("HTTP"),
      )
      expect(body).toHaveLength(largeBytes)
    })

    for (const [what, first, second] of [
      ["GET and GET", get("/1"), get("/2")],
      ["POST and POST", post("/1"), post("/2")],
      ["POST and upgrade", post("/1"), upgrade("/ws")],
      ["GET and half of another", get("/slow/1"), get("/2").slice(0, 12)],
    ] as const) {
      test(`in the same packet never costs an answer of what was done: ${what}`, async () => {
        using server = await serve(kind)
        using talk = new ByteTalk(server.door)

        talk.write(first + second)
        await until("an answer, or a start", () => talk.isClosed || server.begun.length > 0)
        for (const path of server.begun) server.finish(path)
        await talk.hears("\r\n\r\n")

        const [status] = talk.statuses
        const wasDone = server.begun.length > 0
        expect(status).toBe(wasDone ? 200 : 400)
        if (!wasDone) await talk.closes()
      })
    }
  })
}

describe("over the unix socket, two requests in one packet", () => {
  test("are not begun, since nobody would get the answer", async () => {
    using server = await serve("plain")
    using talk = new ByteTalk({ path: server.socketPath })

    talk.write(get("/1") + get("/2"))
    await talk.closes()

    expect(server.begun).toEqual([])
  })
})

describe("a client that leaves", () => {
  test("ends its request, although the next one would have been held back", async () => {
    using server = await serve("plain")
    const talk = new ByteTalk(server.door)

    talk.write(get("/slow/1"))
    await until("it has begun", () => server.begun.length === 1)
    talk[Symbol.dispose]()

    await until("its end is noticed", () => server.aborted.includes("/slow/1"))
  })
})

describe("requests one after the other", () => {
  test("are answered on the same connection, refused ones as well", async () => {
    using server = await serve("plain")
    using talk = new ByteTalk(server.door)

    for (const path of ["/refused/1", "/2", "/refused/3", "/4"]) {
      talk.write(get(path))
      await talk.hears(`answer to ${path}`)
    }

    expect(talk.statuses).toEqual([401, 200, 401, 200])
    expect(talk.isClosed).toBe(false)
  })
})

const largeBytes = 16 * 1024 * 1024

function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
}

function post(path: string): string {
  return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nbody`
}

function upgrade(path: string): string {
  const key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
  const headers = `Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}`
  return `GET ${path} HTTP/1.1\r\n${headers}\r\n\r\n`
}

/** Serves as the gateway does: reads a request, begins it when it is alone, and answers. */
async function serve(kind: "plain" | "tls") {
  const folder = temporaryFolder()
  const socketPath = join(folder.path, "socket")
  const begun: string[] = []
  const aborted: string[] = []
  const slow = new Map<string, () => void>()

  async function answerTo(request: Request, turn: RequestTurn): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname.startsWith("/refused"))
      return new Response(`answer to ${pathname}`, { status: 401 })
    await request.text()
    if (!(await turn.hasArrived())) return new Response("", { status: 400 })
    begun.push(pathname)
    request.signal.addEventListener("abort", () => aborted.push(pathname))
    if (pathname.startsWith("/slow")) {
      await new Promise<void>((resolve) => slow.set(pathname, resolve))
    }
    turn.hasAnswered()
    const text = pathname === "/large" ? "x".repeat(largeBytes) : `answer to ${pathname}`
    return new Response(text)
  }

  const handlers: Handlers<object> = {
    async fetch(request, _server, _peer, connection) {
      using turn = new RequestTurn(request, connection)
      return await turn.deliver(await answerTo(request, turn))
    },
    websocket: { message: () => undefined },
  }
  const tls = kind === "tls" ? { ...own, clientCa: null } : null
  const where = { hosts: ["127.0.0.1"], port: 0, patienceS: 30, socketPath, tls }
  const opened = await listen({ ...where, bounds: roomyBounds }, handlers, listenEvents)
  if (!opened.ok) throw new Error(opened.failure.message)
  const port = opened.value.port ?? 0
  const door: Door = tls === null ? { port } : { port, ca: readFileSync(authority.ca, "utf8") }
  return {
    door,
    socketPath,
    begun,
    aborted,
    finish: (path: string) => slow.get(path)?.(),
    /** By then whatever had arrived has been read, if anybody reads. */
    async turnOfTheLoop() {
      using other = new ByteTalk(door)
      other.write(get("/other"))
      await other.hears("answer to /other")
      begun.splice(begun.indexOf("/other"), 1)
    },
    [Symbol.dispose]() {
      opened.value[Symbol.dispose]()
      folder[Symbol.dispose]()
    },
  }
}
