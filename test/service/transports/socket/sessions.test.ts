import { describe, expect, test } from "bun:test"
import { type Incoming, Sessions } from "../../../../src/service/transports/socket/sessions.ts"
import { bearer } from "../../../support/callers.ts"
import { NotedRefusals } from "../../../support/noted.ts"
import { QuietLog } from "../../../support/quiet-log.ts"
import { ScriptedConnection } from "../../../support/scripted-connection.ts"
import { settled } from "../../../support/scripted-link.ts"
import { caller, StagedExecution } from "../../../support/staged-execution.ts"
import { until } from "../../../support/until.ts"

function stage(staged: StagedExecution, settings: { streamTimeoutMs?: number } = {}) {
  const { streamTimeoutMs = 60_000 } = settings
  const log = new QuietLog()
  const limits = {
    maxSessions: 2,
    maxSessionsPerPrincipal: 1,
    messagesPerSecond: 1000,
    streamTimeoutMs,
    version: "1.2.3",
    runAs: null,
  }
  const nothing = () => undefined
  const refusals = new NotedRefusals()
  const events = { log, refusals, reportGarbage: nothing, flooded: nothing, answered: nothing }
  const sessions = new Sessions(limits, staged.operations, events)
  const open = (incoming: Incoming | null = null) => {
    const connection = new ScriptedConnection()
    return { connection, session: sessions.open(connection, caller, { incoming }) }
  }
  return { log, refusals, sessions, open }
}

describe("a session", () => {
  test("is greeted with an id of its own, the version and what it may do", () => {
    using staged = new StagedExecution()
    const { sessions, open } = stage(staged)
    using _sessions = sessions
    const [one, other] = [open(), open()]

    const greetings = [one, other].map(({ connection }) => connection.messages[0])
    for (const greeting of greetings) {
      expect(greeting).toMatchObject({ method: "connected", params: { version: "1.2.3" } })
      expect(greeting?.params?.["capabilities"]).toContain("execute")
    }
    const ids = greetings.map((greeting) => greeting?.params?.["session_id"])
    expect(new Set(ids).size).toBe(2)
  })

  test("is refused when all places are taken, and its place is free when it leaves", () => {
    using staged = new StagedExecution()
    const { sessions, open } = stage(staged)
    using _sessions = sessions
    const first = open()
    open()

    const third = open()
    expect(third.session).toBeNull()
    expect(third.connection.messages).toMatchObject([
      { id: null, error: { code: -32001, data: { reason: "SESSION_LIMIT" } } },
    ])
    expect(third.connection.closes).toEqual([{ code: 1008, reason: "SESSION_LIMIT" }])

    if (first.session !== null) sessions.close(first.session, 1000)
    expect(sessions.size).toBe(1)
    expect(open().session).not.toBeNull()
  })

  test("gives way to another, when all are taken, if its message does not come to its end", () => {
    using staged = new StagedExecution()
    const { sessions, open } = stage(staged)
    using _sessions = sessions
    const ended: string[] = []
    const halfSent = (agoMs: number) => ({
      unfinishedSinceMs: performance.now() - agoMs,
      end: () => void ended.push(`since ${agoMs} ms`),
    })
    open(halfSent(60_000))
    open(halfSent(90_000))

    expect([open(), open(), open()].map(({ session }) => session !== null)).toEqual([
      true,
      true,
      false,
    ])
    expect(ended).toEqual(["since 90000 ms", "since 60000 ms"])
    expect(sessions.size).toBe(2)
  })

  test("stays when all are taken while its message is on its way", () => {
    using staged = new StagedExecution()
    const { sessions, open } = stage(staged)
    using _sessions = sessions
    const end = () => expect.unreachable()
    open({ unfinishedSinceMs: performance.now(), end })
    open({ unfinishedSinceMs: null, end })

    expect(open().session).toBeNull()
  })

  test("is pinged while it is silent, and kept as long as it answers", async () => {
    using staged = new StagedExecution()
    const { sessions, open } = stage(staged, { streamTimeoutMs: 60 })
    using _sessions = sessions
    const { connection, session } = open()
    connection.onPing = () => session !== null && sessions.heard(session)
    await until("ten pings", () => connection.pings >= 10 || sessions.size === 0)

    expect(connection.closes).toEqual([])
    expect(sessions.size).toBe(1)
  })

  test("is kept when the process was held up, and could not hear it", async () => {
    using staged = new StagedExecution()
    const { sessions, open } = stage(staged, { streamTimeoutMs: 60 })
    using _sessions = sessions
    const { connection, session } = open()
    connection.onPing = () => session !== null && sessions.heard(session)
    Bun.sleepSync(150)
    await until("five pings", () => connection.pings >= 5 || sessions.size === 0)

    expect(connection.closes).toEqual([])
  })

  test("whose token was revoked is answered what it has started, then ended", async () => {
    using staged = new StagedExecution()
    const { sessions, log } = stage(staged)
    using _sessions = sessions
    const connection = new ScriptedConnection()
    const agent = bearer("agent", "execute")
    const session = sessions.open(connection, agent)
    const request = { jsonrpc: "2.0", id: 7, method: "execute", params: { command: "true" } }
    void session?.receive(JSON.stringify(request))
    await settled()

    agent.revoke()
    await until("it is found out", () => log.events.includes("session ended with its token"))
    expect(connection.closes).toEqual([])
    await staged.link.callTo("start").answer({ record: staged.record, repeated: false })
    await until("it is ended", () => connection.closes.length > 0)

    expect(connection.answerTo(7)?.result).toMatchObject({ execution_id: staged.id })
    expect(connection.messages.at(-1)).toMatchObject({
      error: { data: { reason: "UNAUTHORIZED" } },
    })
    expect(connection.closes).toEqual([{ code: 1008, reason: "UNAUTHORIZED" }])
  })

  test("is told why and ended when it answers no ping", async () => {
    using staged = new StagedExecution()
    const { log, sessions, open } = stage(staged, { streamTimeoutMs: 30 })
    using _sessions = sessions
    const { connection, session } = open()
    await until("it is closed", () => sessions.size === 0)

    const reasons = connection.messages.map(({ error }) => error?.data.reason)
    expect(reasons).toEqual([undefined, "STREAM_TIMEOUT"])
    expect(connection.closes).toMatchObject([{ code: 1008 }])
    await until("its connection is ended for good", () => connection.isTerminated)
    expect(session?.isClosed).toBe(true)
    expect(log.events).toContain("session timed out")
  })

  test("is asked to come back when the gateway goes", () => {
    using staged = new StagedExecution()
    const { sessions, open } = stage(staged)
    const { connection, session } = open()

    sessions[Symbol.dispose]()

    expect(connection.closes).toMatchObject([{ code: 1001 }])
    expect(session?.isClosed).toBe(true)
    expect(sessions.size).toBe(0)
  })
})
