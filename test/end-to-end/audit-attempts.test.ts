import { describe, expect, test } from "bun:test"
import { z } from "zod"
import { WireError } from "../../src/protocol/failure.ts"
import { verifyAudit } from "../../src/service/audit/verify-audit.ts"
import { admitted } from "../support/admitted.ts"
import {
  auditAttempts,
  auditDirectory,
  auditEntries,
  auditText,
  untilNoted,
} from "../support/audit-lines.ts"
import { RawSession } from "../support/raw-session.ts"
import { sampleId } from "../support/sample-record.ts"
import { Service } from "../support/service.ts"

const flags = { "allowed-commands": "echo,sleep,cat" }
const execution_id = sampleId(5)
const ErrorBody = z.object({ error: WireError })

describe("what was allowed", () => {
  test("has its line before it is answered, and its end one before that is told", async () => {
    await using service = await Service.start({ flags })
    using client = await admitted(service)
    const { session } = client

    const { execution_id: id } = await session.call("execute", { command: "echo hi" })
    const attempts = auditAttempts(service.stateDir)
    await session.heard("process.completed", id)

    expect(attempts).toMatchObject([
      {
        principal: "admitted",
        address: expect.stringMatching(/^(?:127\.0\.0\.1|::1)$/),
        via: "websocket",
        method: "execute",
        execution_id: id,
        outcome: "allowed",
        what: { argv: ["echo", "hi"], cwd: process.cwd(), env: [], shell: false },
      },
    ])
    expect(auditEntries(service.stateDir).at(-1)).toMatchObject({
      event: "execution-ended",
      principal: "admitted",
      execution_id: id,
      what: { kind: "exited", exitCode: 0 },
    })
  })

  test("names who steered it, and counts what was written to it", async () => {
    await using service = await Service.start({ flags })
    using client = await admitted(service)
    const { session } = client
    const { execution_id: id } = await session.call("execute", { command: "cat", stdin: "pipe" })

    for (const data of ["one", "two", "three"]) {
      await session.call("input", { execution_id: id, data })
    }
    await session.call("control", { type: "PAUSE" })
    await session.call("control", { type: "RESUME" })
    await session.call("control", { type: "SIGNAL", signal: "SIGCONT" })
    await session.call("control", { type: "CANCEL" })
    await session.heard("process.completed", id)
    await session.call("remove", { execution_id: id })

    const attempts = auditAttempts(service.stateDir)
    expect(attempts.every((attempt) => attempt.execution_id === id)).toBe(true)
    expect(attempts.map(({ method, what, count }) => [method, kindOf(what), count ?? 1])).toEqual([
      ["execute", null, 1],
      ["input", null, 1],
      ["control", "PAUSE", 1],
      ["control", "RESUME", 1],
      ["control", "SIGNAL", 1],
      ["control", "CANCEL", 1],
      ["input", null, 2],
      ["remove", null, 1],
    ])
    expect(auditText(service.stateDir)).not.toContain("three")
  })

  test("is between a start and an end of the service, and the chain is intact", async () => {
    await using service = await Service.start({ flags })
    using client = await admitted(service)
    const { session } = client
    await session.run({ command: "echo hi" })
    service.kill("SIGTERM")
    await service.exited

    const entries = auditEntries(service.stateDir)

    expect(entries.map(({ event }) => event)).toEqual([
      "file-began",
      "service-started",
      "attempt",
      "execution-ended",
      "service-ended",
    ])
    expect(entries[1]).toMatchObject({
      what: { pid: service.pid, uid: process.getuid?.(), policy: "allow-list", lost: 0 },
    })
    expect(verifyAudit(auditDirectory(service.stateDir))).toMatchObject({
      verified: true,
      head: { number: 5 },
    })
  })
})

describe("what was refused has one line with the reason that was answered", () => {
  test("over a WebSocket", async () => {
    await using service = await Service.start({ flags })
    using client = await admitted(service)
    const { session } = client
    const requests: Array<[method: string, params: object]> = [
      ["execute", { argv: ["id"] }],
      ["execute", { command: { not: "text" } }],
      ["control", { type: "PAUSE", execution_id }],
      ["control", { type: "FLY", execution_id }],
      ["input", { execution_id, data: "x" }],
      ["remove", { execution_id: "aaaa" }],
      ["resize", { execution_id, cols: 80, rows: 24 }],
      ["attach", { execution_id }],
      ["detach", { execution_id }],
      ["status", { execution_id }],
      ["list", { cursor: "none of ours" }],
      ["transcript.read", { execution_id }],
      ["transcript.verify", { execution_id }],
      ["receipt", {}],
    ]

    const answered: string[] = []
    for (const [method, params] of requests) {
      const { data } = await session.refused(method, params)
      answered.push(`websocket ${method} ${data.reason}`)
    }
    session.send("not JSON")
    answered.push(`websocket unknown ${(await session.refusalOf(null)).data.reason}`)
    session.send("[]")
    answered.push(`websocket unknown ${(await session.refusalOf(null)).data.reason}`)
    answered.push(`websocket unknown ${(await session.refused("fly")).data.reason}`)

    expect((await noted(service)).toSorted()).toEqual(answered.toSorted())
    expect(auditAttempts(service.stateDir)[0]).toMatchObject({ what: { argv: ["id"] } })
  })

  test("over HTTP", async () => {
    await using service = await Service.start({ flags })
    using client = await admitted(service)
    const path = `/executions/${execution_id}`
    const requests: Array<[method: string, path: string, body: string | null, operation: string]> =
      [
        ["POST", "/executions", '{"argv":["id"]}', "execute"],
        ["POST", "/executions", '{"command":7}', "execute"],
        ["POST", "/executions", "{", "execute"],
        ["GET", path, null, "status"],
        ["DELETE", path, null, "remove"],
        ["POST", `${path}/control`, '{"type":"CANCEL"}', "control"],
        ["POST", `${path}/input`, '{"data":"x"}', "input"],
        ["GET", `${path}/output`, null, "output"],
        ["GET", `${path}/receipt`, null, "receipt"],
        ["GET", "/executions?limit=none", null, "list"],
        ["GET", "/nowhere", null, "GET"],
        ["PUT", "/executions", null, "PUT"],
      ]

    const answered: string[] = []
    for (const [method, at, body, operation] of requests) {
      const headers = body === null ? {} : { "Content-Type": "application/json" }
      const response = await client.http.fetch(at, { method, headers, body })
      answered.push(`http ${operation} ${reasonIn(await response.json())}`)
    }
    const headers = { Origin: "https://evil.example" }
    const foreign = await client.http.fetch("/executions", { headers })
    answered.push(`http GET ${reasonIn(await foreign.json())}`)

    expect((await noted(service)).toSorted()).toEqual(answered.toSorted())
  })

  test("before there is a session", async () => {
    await using service = await Service.start({ flags: { "max-sessions": "1" } })
    const url = await service.url()
    const foreign = new RawSession(url, { headers: { Origin: "https://evil.example" } })
    await foreign.closed
    using _only = await RawSession.open(url)
    using second = new RawSession(url)
    await second.closed

    expect(await noted(service)).toEqual([
      "websocket connect FORBIDDEN",
      "websocket connect SESSION_LIMIT",
    ])
    const [stranger, known] = auditAttempts(service.stateDir)
    expect([stranger?.principal, known?.principal]).toEqual([null, "local"])
  })

  test("when a message is larger than any may be", async () => {
    await using service = await Service.start({ flags: { "max-message-bytes": "64k" } })
    using session = await RawSession.open(await service.url())
    session.send("x".repeat(70_000))
    await session.closed

    expect(await noted(service)).toEqual(["websocket unknown INVALID_REQUEST"])
  })

  test("when the gateway dies right afterwards", async () => {
    await using service = await Service.start({ flags })
    using client = await admitted(service)
    const { session } = client
    await session.refused("execute", { argv: ["id"] })
    await session.refused("status", { execution_id })
    await untilNoted(service.stateDir, { method: "status" })
    process.kill(service.gatewayPid, "SIGKILL")
    await session.closed

    expect(auditAttempts(service.stateDir).map(({ reason }) => reason)).toEqual([
      "SECURITY_DENIED",
      "PROCESS_NOT_FOUND",
    ])
  })
})

/** Every refusal there is, once the service has ended: none comes later, none twice. */
async function noted(service: Service): Promise<string[]> {
  service.kill("SIGTERM")
  await service.exited
  return auditAttempts(service.stateDir)
    .filter(({ outcome }) => outcome === "refused")
    .flatMap(({ via, method, reason, count = 1 }) =>
      Array<string>(count).fill(`${via} ${method} ${reason}`),
    )
}

function kindOf(what: object | undefined): unknown {
  return what !== undefined && "type" in what ? what.type : null
}

function reasonIn(body: unknown): string {
  return ErrorBody.parse(body).error.data.reason
}
