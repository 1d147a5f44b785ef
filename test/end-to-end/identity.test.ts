import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { chownSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { noNamespace, WiredNamespace } from "../stress/support/faults/wired-namespace.ts"
import { answerTo, noOtherUsers, statusIn, upgradeHeaders } from "../support/as-user.ts"
import { auditAttempts, refusalCount } from "../support/audit-lines.ts"
import { HttpTalk, refusalOf } from "../support/http-talk.ts"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"
import { testUnless } from "../support/test-unless.ts"
import { bearing, makeToken, revokeToken } from "../support/tokens.ts"
import { until } from "../support/until.ts"

const stranger = 65_534
const timeoutMs = 60_000
/** What a WebSocket says of an upgrade that was refused. */
const notOpened = 1006

let service: Service

beforeAll(async () => {
  service = await Service.start()
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

const start = {
  method: "POST",
  path: "/executions",
  headers: { "Content-Type": "application/json", "Content-Length": "21" },
  body: '{"command":"echo hi"}',
}

const doors = [
  { door: "the WebSocket", path: "/ws/mcp", headers: upgradeHeaders() },
  { door: "MCP's WebSocket", path: "/ws/mcp", headers: upgradeHeaders("mcp") },
  {
    door: "MCP over HTTP",
    method: "POST",
    path: "/mcp",
    headers: { "Content-Type": "application/json", "Content-Length": "2" },
    body: "{}",
  },
  { door: "HTTP", path: "/executions", headers: {} },
  { door: "HTTP, to run something", ...start },
  { door: "tickets", method: "POST", path: "/tickets", headers: { "Content-Length": "0" } },
]

describe("another user of the same machine", () => {
  for (const { door, ...request } of doors) {
    testUnless(noOtherUsers, `is refused at ${door}, where root is not`, async () => {
      const listening = await service.listening

      const theirs = await answerTo(listening, { ...request, uid: stranger })
      const ours = await answerTo(listening, { ...request, uid: 0 })

      expect(statusIn(theirs)).toBe(401)
      expect(theirs).toContain("UNAUTHORIZED")
      expect(theirs).toContain("cc-executor token create")
      expect(statusIn(ours)).not.toBe(401)
    })
  }

  testUnless(noOtherUsers, "comes in with a token", async () => {
    const token = await makeToken(service.stateDir, { name: "neighbour" })
    const { headers } = bearing(token)

    const listening = await service.listening
    const answer = await answerTo(listening, { uid: stranger, path: "/executions", headers })

    expect(statusIn(answer)).toBe(200)
  })

  testUnless(noOtherUsers, "learns nothing from /health but that it is alive", async () => {
    const answer = await answerTo(await service.listening, { uid: stranger, path: "/health" })

    expect(statusIn(answer)).toBe(200)
    expect(answer.slice(answer.indexOf("\r\n\r\n"))).toContain('{"status":"ok"}')
  })

  testUnless(
    noOtherUsers,
    "who owns the service is at home there, and root is, and nobody else",
    async () => {
      const stateDir = mkdtempSync(join(tmpdir(), "cc-executor-theirs-"))
      chownSync(stateDir, stranger, stranger)
      const uid = String(stranger)
      const prefix = ["setpriv", "--reuid", uid, "--regid", uid, "--clear-groups"]
      try {
        await using theirs = await Service.start({ stateDir, prefix, cwd: "/" })
        const listening = await theirs.listening
        const status = async (who: number) =>
          statusIn(await answerTo(listening, { uid: who, path: "/executions" }))

        expect(await status(stranger)).toBe(200)
        expect(await status(0)).toBe(200)
        expect(await status(1234)).toBe(401)
      } finally {
        rmSync(stateDir, { recursive: true, force: true })
      }
    },
    timeoutMs,
  )
})

describe("a proxy on this machine", () => {
  test.each(["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP", "X-Forwarded-Proto"])(
    "that says %s does not make the whole internet local",
    async (header) => {
      const http = await service.url("/executions")

      const forwarded = await fetch(http, { headers: { [header]: "192.0.2.1" } })
      const socket = new RawSession(await service.url(), { headers: { [header]: "192.0.2.1" } })

      expect(await refusalOf(forwarded)).toMatchObject({ status: 401, reason: "UNAUTHORIZED" })
      expect((await socket.closed).code).toBe(notOpened)
    },
  )

  test("may pass on a token", async () => {
    const token = await makeToken(service.stateDir, { name: "behind-proxy" })
    const { headers } = bearing(token)

    const answer = await fetch(await service.url("/executions"), {
      headers: { ...headers, "X-Forwarded-For": "192.0.2.1" },
    })

    expect(answer.status).toBe(200)
  })
})

describe("a token", () => {
  test("that is wrong is refused, however it is, also from where none is needed", async () => {
    const good = await makeToken(service.stateDir, { name: "wrongly-used" })
    const expired = await makeToken(service.stateDir, { name: "short-lived", ttl: "1s" })
    const revoked = await makeToken(service.stateDir, { name: "revoked" })
    await revokeToken(service.stateDir, "revoked")
    const url = await service.url("/executions")
    await until("its second is over", async () => (await fetch(url, bearing(expired))).status > 400)

    for (const token of [
      good.slice(0, -1),
      `${good}x`,
      good.toUpperCase(),
      "x",
      revoked,
      expired,
    ]) {
      const http = await fetch(await service.url("/executions"), bearing(token))
      const socket = new RawSession(await service.url(), bearing(token))
      expect([401, 429]).toContain(http.status)
      expect((await socket.closed).code).toBe(notOpened)
    }
    const basic = await fetch(await service.url("/executions"), {
      headers: { Authorization: `Basic ${btoa(`user:${good}`)}` },
    })
    expect([401, 429]).toContain(basic.status)
    expect((await fetch(await service.url("/executions"), bearing(good))).status).toBe(200)
  })

  test("that is guessed is answered ever more slowly, and a right one all the while", async () => {
    await using guessed = await Service.start()
    const good = await makeToken(guessed.stateDir, { name: "good" })
    const url = await guessed.url("/executions")
    const guess = () => fetch(url, bearing(`${good.slice(0, -3)}abc`))
    const answers = await Promise.all(Array.from({ length: 30 }, guess))
    const statuses = answers.map(({ status }) => status)
    const late = answers.find(({ status }) => status === 429)

    const wrong = statuses.filter((status) => status === 401).length
    const hasty = statuses.filter((status) => status === 429).length
    expect(wrong).toBeGreaterThanOrEqual(20)
    expect(hasty).toBeGreaterThanOrEqual(5)
    await until("a line for each of them", () => {
      const noted = (reason: string) => refusalCount(guessed.stateDir, reason)
      return noted("UNAUTHORIZED") === wrong && noted("RATE_LIMITED") === hasty
    })
    expect(Number(late?.headers.get("retry-after"))).toBeGreaterThan(0)
    expect((await fetch(url, bearing(good))).status).toBe(200)
  })

  test(
    "that is revoked ends its session, its stream and its watch, and nobody else's",
    async () => {
      const token = await makeToken(service.stateDir, { name: "short-stay" })
      using theirs = await RawSession.open(await service.url(), bearing(token))
      using ours = await RawSession.open(await service.url())
      const job = "while true; do echo tick; sleep 0.05; done"
      const { execution_id: id } = await theirs.call("execute", { command: job })
      await theirs.heard("process.output", id)
      const stream = await fetch(await service.url(`/executions/${id}/output?follow=true`), {
        ...bearing(token),
      })
      const reading = stream.text().catch(() => "cut")

      await revokeToken(service.stateDir, "short-stay")

      expect(await theirs.closed).toMatchObject({ code: 1008, reason: "UNAUTHORIZED" })
      await reading
      expect((await ours.call("status", { execution_id: id })).state).toBe("running")
      await ours.call("control", { type: "CANCEL", execution_id: id })
    },
    timeoutMs,
  )
})

describe("an address that other machines can reach", () => {
  test("is not listened on while nobody there could show who they are", async () => {
    const open = new Service({ flags: { host: "0.0.0.0" } })
    await open.exited
    await open[Symbol.asyncDispose]()

    expect(open.said.join("\n")).toContain("cc-executor token create")
    expect(open.said.join("\n")).toContain("--tls-client-ca")
  })

  testUnless(
    noNamespace,
    "is served to tokens, and to nobody without one",
    async () => {
      using namespace = new WiredNamespace()
      using folder = new DisposableStack()
      const stateDir = mkdtempSync(join(tmpdir(), "cc-executor-open-"))
      folder.defer(() => rmSync(stateDir, { recursive: true, force: true }))
      const token = await makeToken(stateDir, { name: "remote" })
      await using remote = await Service.start({
        stateDir,
        prefix: namespace.prefix,
        flags: { host: namespace.address },
      })
      const http = new HttpTalk((await remote.url("/")).replace(/\/$/, ""))

      expect(await http.refused("GET", "/executions")).toMatchObject({ status: 401 })
      expect(await http.refused("POST", "/executions", { command: "id" })).toMatchObject({
        status: 401,
        reason: "UNAUTHORIZED",
      })
      expect((await new RawSession(await remote.url()).closed).code).toBe(notOpened)
      using session = await RawSession.open(await remote.url(), bearing(token))
      expect((await session.run({ command: "echo there" })).stdout).toBe("there\n")
    },
    timeoutMs,
  )
})

describe("a ticket", () => {
  test("opens one WebSocket in the name of who asked for it, once", async () => {
    const token = await makeToken(service.stateDir, { name: "page", scope: "read" })
    const asked = await fetch(await service.url("/tickets"), { method: "POST", ...bearing(token) })
    const { ticket, expires_in } = JSON.parse(await asked.text())
    const url = `${await service.url()}?ticket=${ticket}`

    using session = await RawSession.open(url)
    const again = new RawSession(url)
    const made = new RawSession(`${await service.url()}?ticket=${"x".repeat(32)}`)

    expect(expires_in).toBe(60)
    expect((await session.refused("execute", { command: "id" })).data.reason).toBe("FORBIDDEN")
    const refusedTickets = () =>
      auditAttempts(service.stateDir).filter(({ message }) => message?.includes("ticket")).length
    await until("a line for the ticket that was used twice", () => refusedTickets() > 0)
    expect((await again.closed).code).toBe(notOpened)
    expect((await made.closed).code).toBe(notOpened)
  })
})
