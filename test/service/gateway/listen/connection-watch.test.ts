import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { type Handlers, listen } from "../../../../src/service/gateway/listen/listen.ts"
import { RequestTurn } from "../../../../src/service/gateway/listen/request-turn.ts"
import type { WatchedConnection } from "../../../../src/service/gateway/listen/watched-connection.ts"
import { ByteTalk } from "../../../support/byte-talk.ts"
import { localUser } from "../../../support/callers.ts"
import { clientFrame, TcpTalk, textOpcode } from "../../../support/tcp-talk.ts"
import { temporaryFolder } from "../../../support/temporary-folder.ts"
import { until } from "../../../support/until.ts"
import { listenEvents, roomyBounds } from "./listen-setup.ts"

const waiting = { most: 12, mostOfOne: 4 }
const halfHead = "GET / HTTP/1.1\r\nHost: loc"
const halfBody = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhalf"

for (const [what, bytes] of [
  ["say nothing", ""],
  ["send half a head", halfHead],
  ["send half a body", halfBody],
] as const) {
  describe(`connections that ${what}`, () => {
    test("are closed beyond the user's share, and nobody else's are", async () => {
      await using server = await serve()
      const other = server.talks(2, "other user", bytes)

      const talks = server.talks(20, "attacker", bytes)
      await until("the share is all that is left", () => open(talks) === waiting.mostOfOne)
      const answer = await server.ask()

      expect(answer).toBe("answered")
      expect(open(other)).toBe(2)
      expect(open(talks)).toBe(waiting.mostOfOne)
    })
  })
}

describe("what does not wait", () => {
  test("is not counted: requests that are answered, and sessions", async () => {
    await using server = await serve()
    const asking = server.talks(6, "attacker", "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
    const sessions = await Promise.all(Array.from({ length: 6 }, () => server.session("attacker")))
    await until("all have begun", () => server.slow.length === asking.length)

    const talks = server.talks(20, "attacker", halfHead)
    await until("the share is all that is left", () => open(talks) === waiting.mostOfOne)
    for (const finish of server.slow) finish()
    await Promise.all(asking.map((talk) => talk.hears("answered")))

    expect(sessions.map(({ isClosed }) => isClosed)).toEqual(sessions.map(() => false))
  })
})

describe("messages that do not come to their end", () => {
  test("are given up beyond the principal's share of bytes, the oldest first", async () => {
    await using server = await serve()
    const others = await server.session("other user")
    others.talk.write(halfMessage)
    const sessions: (typeof others)[] = []
    for (let count = 0; count < 4; count++) {
      const session = await server.session("attacker")
      session.talk.write(halfMessage)
      await until(
        "half of it was seen",
        () => server.unfinished(session.port) > halfMessage.length / 2,
      )
      sessions.push(session)
    }

    const isClosed = () => sessions.map((session) => session.isClosed)
    await until("all but the last were closed", () => isClosed().filter(Boolean).length >= 3)

    expect(isClosed()).toEqual([true, true, true, false])
    expect(sessions[0]?.talk.heard).toContain("Too much")
    expect(others.isClosed).toBe(false)
  })

  test("do not count once they have come", async () => {
    await using server = await serve()
    const session = await server.session("attacker")
    const second = await server.session("attacker")

    // Both may be on their way at once: only together with what came before are they too much.
    for (let count = 1; count <= 10; count++) {
      for (const { talk } of [session, second])
        talk.write(clientFrame(textOpcode, "x".repeat(40_000)))
      await until("they were heard", () => server.heard === count * 2)
    }

    expect([session.isClosed, second.isClosed]).toEqual([false, false])
  })
})

/** 60 of 100 kB. */
const halfMessage = clientFrame(textOpcode, "x".repeat(100_000)).subarray(0, 60_000)

function open(talks: ByteTalk[]): number {
  return talks.filter((talk) => !talk.isClosed).length
}

/** A server on which it can be said whose a connection is, by its port. */
async function serve() {
  const kept = new AsyncDisposableStack()
  const folder = kept.use(temporaryFolder())
  const users = new Map<number, string>()
  const connections = new Map<number, WatchedConnection>()
  const slow: (() => void)[] = []
  let heard = 0

  type Data = { connection: WatchedConnection | null; user: string }
  const handlers: Handlers<Data> = {
    async fetch(request, server, peer, connection) {
      const port = peer.kind === "tcp" ? peer.peer.port : 0
      if (connection !== null) connections.set(port, connection)
      if (request.headers.has("upgrade")) {
        const user = request.headers.get("x-user") ?? ""
        const data = { connection, user, caller: localUser, connectionSlot: folder }
        server.upgrade(request, { data })
        return undefined
      }
      using turn = new RequestTurn(request, connection)
      await request.text()
      await turn.hasArrived()
      if (request.url.endsWith("/slow")) await new Promise<void>((resolve) => slow.push(resolve))
      turn.hasAnswered()
      return await turn.deliver(new Response("answered"))
    },
    websocket: {
      open(socket) {
        const { connection, user } = socket.data
        const close = (reason: string) => socket.close(1013, reason)
        connection?.becomeSession({ principal: user, close })
      },
      message(socket, message) {
        heard += 1
        socket.data.connection?.heardMessage(Buffer.byteLength(message))
      },
    },
  }
  const bounds = { ...roomyBounds, waiting, unfinishedBytes: { most: 300_000, mostOfOne: 100_000 } }
  const uids = ["attacker", "other user"]
  const uidOf = ({ peer }: { peer: { port: number } }) => uids.indexOf(users.get(peer.port) ?? "")
  const where = { hosts: ["127.0.0.1"], port: 0, patienceS: 30, tls: null, bounds }
  const opened = await listen({ ...where, socketPath: join(folder.path, "socket") }, handlers, {
    ...listenEvents,
    uidOf,
  })
  if (!opened.ok) throw new Error(opened.failure.message)
  kept.use(opened.value)
  const port = opened.value.port ?? 0

  return {
    slow,
    get heard() {
      return heard
    },
    unfinished: (clientPort: number) => connections.get(clientPort)?.unfinishedBytes() ?? 0,
    talks(count: number, user: string, bytes: string): ByteTalk[] {
      return Array.from({ length: count }, () => {
        const talk = kept.use(new ByteTalk({ port }, (own) => users.set(own, user)))
        if (bytes !== "") talk.write(bytes)
        return talk
      })
    },
    async session(user: string) {
      const url = `http://127.0.0.1:${port}/`
      const talk = kept.use(await TcpTalk.connect(url))
      await talk.upgrade(url, { "X-User": user })
      const session = { talk, port: talk.localPort, isClosed: false }
      const noteEnd = async () => {
        await talk.closed
        session.isClosed = true
      }
      void noteEnd()
      return session
    },
    async ask(): Promise<string> {
      return (await fetch(`http://127.0.0.1:${port}/`)).text()
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
