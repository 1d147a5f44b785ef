import { describe, expect, test } from "bun:test"
import { RawSession } from "../support/raw-session.ts"
import { byScale } from "../support/scale.ts"
import { Service } from "../support/service.ts"
import { sharedService } from "../support/shared-service.ts"
import { clientFrame, statusOf, TcpTalk, textOpcode } from "../support/tcp-talk.ts"
import { until } from "../support/until.ts"

const timeoutMs = 60_000
const shared = sharedService()

describe("a service with room for three sessions", () => {
  test(
    "refuses a fourth by name, and takes one when another has left",
    async () => {
      await using service = await Service.start({ flags: { "max-sessions": "3" } })
      const url = await service.url()
      using first = await RawSession.open(url)
      using second = await RawSession.open(url)
      using third = await RawSession.open(url)

      using fourth = new RawSession(url)
      const refusal = await fourth.refusalOf(null)
      expect(refusal).toMatchObject({ code: -32001, data: { reason: "SESSION_LIMIT" } })
      expect(await fourth.closed).toMatchObject({ code: 1008 })
      expect(fourth.said).toEqual([])

      for (const session of [first, second, third]) {
        expect((await session.run({ command: "echo still here" })).stdout).toBe("still here\n")
      }
      third[Symbol.dispose]()
      await third.closed
      using _next = await until("a place is free", () => RawSession.open(url).catch(() => null))
    },
    timeoutMs,
  )

  test(
    "gives every session an id of its own",
    async () => {
      const service = shared()
      const url = await service.url()
      using sessions = new DisposableStack()

      const opened = await Promise.all(Array.from({ length: 30 }, () => RawSession.open(url)))
      for (const session of opened) sessions.use(session)
      const ids = opened.flatMap((session) => session.allHeard("connected"))

      expect(new Set(ids.map(({ session_id }) => session_id)).size).toBe(30)
    },
    timeoutMs,
  )
})

describe("a session that watches", () => {
  test(
    "is told of other sessions' executions, and only of those with its labels",
    async () => {
      const service = shared()
      const url = await service.url()
      using watcher = await RawSession.open(url)
      using picky = await RawSession.open(url)
      using runner = await RawSession.open(url)
      await watcher.call("watch", {})
      await picky.call("watch", { labels: { kind: "build" } })

      const plain = await runner.run({ command: "true" })
      const leavesOneBehind = ["sh", "-c", "sleep 0.2 & exit 1"]
      const labels = { kind: "build", by: "me" }
      const build = await runner.run({ argv: leavesOneBehind, labels })

      const isOver = (session: RawSession, id: string) =>
        session.allHeard("execution.changed", id).at(-1)?.state === "ended"
      await until(
        "both ends are told",
        () => isOver(watcher, plain.id) && isOver(watcher, build.id),
      )
      await until("its end is told", () => isOver(picky, build.id))
      expect(picky.allHeard("execution.changed", plain.id)).toEqual([])
      const states = watcher.allHeard("execution.changed", build.id).map(({ state }) => state)
      expect(states).toEqual(["running", "draining", "ended"])
      const [last] = watcher.allHeard("execution.changed", build.id).slice(-1)
      expect(last?.ending).toMatchObject({ outcome: "exited", exit_code: 1 })
    },
    timeoutMs,
  )
})

describe("many short executions at once", () => {
  test(
    "each have their answer, their start, their output and their end, in this order",
    async () => {
      const service = shared()
      using session = await RawSession.open(await service.url())

      const asked = Array.from({ length: byScale({ short: 100, full: 250, long: 250 }) }, () =>
        session.call("execute", { argv: ["echo", "hi"] }),
      )
      const started = await Promise.all(asked)
      const ids = started.map(({ execution_id }) => execution_id)
      await Promise.all(ids.map((id) => session.heard("process.completed", id)))

      const lives = Map.groupBy(session.said.slice(1), ({ executionId }) => executionId)
      const life = ["process.started", "process.output", "process.completed"]
      expect(
        ids.filter(
          (id) =>
            lives
              .get(id)
              ?.map(({ method }) => method)
              .join() !== life.join(),
        ),
      ).toEqual([])
    },
    timeoutMs,
  )
})

describe("a client that offers a protocol the service does not speak", () => {
  test("is answered without a choice", async () => {
    const service = shared()
    const url = await service.url()
    using talk = await TcpTalk.connect(url)

    const head = await talk.upgrade(url, { "Sec-WebSocket-Protocol": "foo, bar" })

    expect(head).toStartWith("HTTP/1.1 101")
    expect(head.toLowerCase()).not.toContain("sec-websocket-protocol")
  })
})

describe("a web page", () => {
  test(
    "of another site, or under a name that was made to lead here, gets nothing",
    async () => {
      const service = shared()
      const socket = await service.url()
      const health = await service.url("/health")
      const { port, host } = new URL(socket)

      for (const [kind, url, welcome] of [
        ["upgrade", socket, 101],
        ["get", health, 200],
      ] as const) {
        const status = (headers: Record<string, string>) => statusOf(url, kind, headers)
        expect(await status({})).toBe(welcome)
        expect(await status({ Origin: `http://${host}` })).toBe(welcome)
        expect(await status({ Origin: "http://localhost:3000" })).toBe(403)
        expect(await status({ "Sec-Fetch-Site": "none" })).toBe(welcome)
        expect(await status({ "Sec-Fetch-Site": "cross-site" })).toBe(403)
        expect(await status({ Origin: "https://example.com" })).toBe(403)
        expect(await status({ Origin: "null" })).toBe(403)
        expect(await status({ Host: `evil.example:${port}` })).toBe(403)
        const rebound = { Host: `evil.example:${port}`, Origin: `http://evil.example:${port}` }
        expect(await status(rebound)).toBe(403)
        expect(await status({ Host: "localhost.evil.example" })).toBe(403)
      }
    },
    timeoutMs,
  )
})

describe("a request to a host that is none", () => {
  test(
    "is refused, and the log does not call it an error",
    async () => {
      const service = shared()
      const socket = await service.url()
      const health = await service.url("/health")
      const logged = service.log.length

      for (const Host of ["", "a b", "a, b", "[", "user@127.0.0.1/x", "127.0.0.1:99999999"]) {
        expect(await statusOf(health, "get", { Host })).toBe(400)
        expect(await statusOf(socket, "upgrade", { Host })).toBe(400)
      }

      expect(service.log.slice(logged).filter((line) => line.includes('"error"'))).toEqual([])
    },
    timeoutMs,
  )
})

describe("a peer that answers no ping", () => {
  test(
    "is told why and closed after the stream timeout, and its execution goes on",
    async () => {
      await using service = await Service.start({ flags: { "stream-timeout": "1s" } })
      const url = await service.url()
      using silent = await RawSession.open(url)
      using dead = await TcpTalk.connect(url)
      await dead.upgrade(url)
      const request = { jsonrpc: "2.0", id: 1, method: "execute", params: { command: "cat" } }
      const params = { command: "cat", stdin: "pipe" }
      dead.write(clientFrame(textOpcode, JSON.stringify({ ...request, params })))
      await until("it was started", () => dead.heard.includes("process.started"))

      await dead.closed

      expect(dead.heard).toContain("STREAM_TIMEOUT")
      const { executions } = await silent.call("list", { state: "running" })
      expect(executions.map(({ argv }) => argv)).toEqual([["cat"]])
      const [execution_id = ""] = executions.map((execution) => execution.execution_id)
      await silent.call("control", { type: "CANCEL", execution_id })
    },
    timeoutMs,
  )
})
