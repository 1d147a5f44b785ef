import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { auditAttempts } from "../support/audit-lines.ts"
import { connectClient } from "../support/mcp-clients.ts"
import { type Heard, McpTalk } from "../support/mcp-talk.ts"
import { sendModern } from "../support/modern-mcp.ts"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"
import { makeToken, revokeToken } from "../support/tokens.ts"
import { until } from "../support/until.ts"

setDefaultTimeout(60_000)

const longRun = { name: "run", arguments: { command: "sleep 47" } }

describe.each(["legacy", "modern"] as const)("a call over a WebSocket, %s, that waits", (era) => {
  test("when its token is revoked is told so, and what it has started", async () => {
    await using service = await Service.start()
    const token = await makeToken(service.stateDir, { name: "agent", scope: "execute,read" })
    await using talk = await McpTalk.open(service, { era, token })
    talk.send({ id: 1, method: "tools/call", params: longRun })
    const id = await onlyExecution(service)

    await revokeToken(service.stateDir, "agent")
    const answer = await talk.answerTo(1)

    expect(textOf(answer)).toStartWith(`UNAUTHORIZED: Execution ${id} was started, but then: `)
    expect(errorOf(answer)).toEqual({ reason: "UNAUTHORIZED", execution_id: id, done: "started" })
    expect(await stateOf(service, id)).toBe("running")
    const noted = await until("the refusal is noted", () =>
      auditAttempts(service.stateDir).find(({ reason }) => reason === "UNAUTHORIZED"),
    )
    expect(noted).toMatchObject({ method: "run", execution_id: id })
  })

  test("when the gateway is replaced is told how far it has come, and can go on", async () => {
    await using service = await Service.start()
    const id = await (async () => {
      await using talk = await McpTalk.open(service, { era })
      talk.send({ id: 1, method: "tools/call", params: longRun })
      const started = await onlyExecution(service)
      const replaced = service.gatewayPid

      process.kill(replaced, "SIGTERM") // as an upgrade does it
      const answer = await talk.answerTo(1)

      const { structuredContent } = Object(answer.result)
      expect(structuredContent).toMatchObject({ execution_id: started, ended: false })
      await until("there is another gateway", () => isReplaced(service, replaced))
      return started
    })()

    await using again = await onceItListens(() => McpTalk.open(service, { era }))
    const wait = { name: "wait", arguments: { execution_id: id, timeout_s: 0 } }
    const waited = await again.ask({ id: 1, method: "tools/call", params: wait })
    expect(Object(waited.result).structuredContent).toMatchObject({ state: "running" })
  })

  test("when the keeper dies is told what it has started, and that it is lost", async () => {
    await using service = await Service.start()
    await using talk = await McpTalk.open(service, { era })
    talk.send({ id: 1, method: "tools/call", params: longRun })
    const id = await onlyExecution(service)

    service.kill("SIGKILL")
    const answer = await talk.answerTo(1)

    expect(errorOf(answer)).toEqual({ reason: "SHUTTING_DOWN", execution_id: id, done: "started" })
    expect(textOf(answer)).toContain("recorded as lost")
    await using next = await Service.start({ stateDir: service.stateDir })
    using owner = await RawSession.open(await next.url())
    const { ending } = await owner.call("status", { execution_id: id })
    expect(ending).toMatchObject({ outcome: "lost" })
  })
})

test("over HTTP, too, a call is told what it has started when the keeper dies", async () => {
  await using service = await Service.start()
  const answer = sendModern(service, "tools/call", longRun)
  const id = await onlyExecution(service)

  service.kill("SIGKILL")
  const told = await (await answer).text()

  expect(told).toContain(`Execution ${id} was started`)
  expect(told).toContain("SHUTTING_DOWN")
})

describe("an official client's call over a WebSocket, when the gateway is killed", () => {
  test("fails, and finds what it started when it is sent again with its key", async () => {
    await using service = await Service.start()
    const args = { command: "sleep 3; echo done", idempotency_key: "deploy-7" }
    const progress: string[] = []
    const cut = await (async () => {
      await using client = await connectClient("SDK v1 over WebSocket", service)
      const onprogress = ({ message = "" }) => void progress.push(message)
      const call = client.call("run", args, { onprogress }).then(
        () => "answered",
        () => "failed",
      )
      await until("it is told of progress", () => progress.length > 0)
      const killed = service.gatewayPid
      process.kill(killed, "SIGKILL")
      const outcome = await call
      await until("there is another gateway", () => isReplaced(service, killed))
      return outcome
    })()

    await using again = await onceItListens(() => connectClient("SDK v1 over WebSocket", service))
    const ran = await again.call("run", args)

    expect(cut).toBe("failed")
    expect(ran.structuredContent).toMatchObject({ succeeded: true, text: "done\n" })
    const { execution_id: id } = Object(ran.structuredContent)
    expect(await onlyExecution(service)).toBe(id)
    expect(progress[0]).toStartWith(`Execution ${id} is running`)
  })
})

/** The one that there is, as soon as it runs. */
async function onlyExecution(service: Service): Promise<string> {
  using owner = await RawSession.open(await service.url())
  return await until("it runs", async () => {
    const { executions } = await owner.call("list", {})
    if (executions.length > 1) throw new Error("there are several")
    return executions[0]?.execution_id
  })
}

async function stateOf(service: Service, execution_id: string): Promise<string> {
  using owner = await RawSession.open(await service.url())
  return (await owner.call("status", { execution_id })).state
}

function textOf({ result }: Heard): string {
  return String(Object(result).content?.[0]?.text)
}

function errorOf({ result }: Heard): unknown {
  return Object(result)._meta?.["cc-executor/error"]?.data
}

function isReplaced(service: Service, killed: number): boolean {
  try {
    return service.gatewayPid !== killed
  } catch {
    return false // between two of them
  }
}

/** The next gateway has its place in the state directory before it has its port. */
function onceItListens<Opened>(open: () => Promise<Opened>): Promise<Opened> {
  return until("it listens", () => open().catch(() => null))
}
