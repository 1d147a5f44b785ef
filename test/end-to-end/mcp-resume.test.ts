import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { z } from "zod"
import { type ClientKind, connectClient, type McpClient } from "../support/mcp-clients.ts"
import { sendModern } from "../support/modern-mcp.ts"
import { fewIfShort } from "../support/scale.ts"
import { Service } from "../support/service.ts"
import { until } from "../support/until.ts"

const timeoutMs = 60_000

/** For what harms no gateway. */
let unharmed: Service
beforeAll(async () => {
  unharmed = await Service.start()
})
afterAll(() => unharmed[Symbol.asyncDispose]())

const overHttp = fewIfShort<ClientKind>(2, [
  "SDK v2 over HTTP, legacy",
  "SDK v2 over HTTP, 2026-07-28",
  "SDK v2 over HTTP, auto",
])

describe.each(overHttp)("a call by %s, under way when the gateway is killed", (kind) => {
  test(
    "is answered by the next gateway, and what it started runs once",
    async () => {
      await using service = await Service.start()
      await using client = await connectClient(kind, service)
      const { promise: isUnderWay, resolve: underWay } = Promise.withResolvers<void>()

      const call = client.call(
        "run",
        { command: "sleep 3; echo done" },
        { onprogress: () => underWay() },
      )
      await isUnderWay
      process.kill(service.gatewayPid, "SIGKILL")
      const ran = await call

      expect(ran.structuredContent).toMatchObject({ succeeded: true, text: "done\n" })
      expect(await executionsOf(client)).toHaveLength(1)
    },
    timeoutMs,
  )

  test(
    "is answered also when all was over before the client came back",
    async () => {
      await using service = await Service.start()
      await using client = await connectClient(kind, service)
      const { promise: isUnderWay, resolve: underWay } = Promise.withResolvers<void>()

      const options = { onprogress: () => underWay() }
      const call = client.call("run", { command: "sleep 1; echo done" }, options)
      await isUnderWay
      process.kill(service.gatewayPid, "SIGKILL") // clients of the SDK come back after a second

      expect((await call).structuredContent).toMatchObject({ succeeded: true, text: "done\n" })
    },
    timeoutMs,
  )
})

describe("a call that is under way through one death of the gateway after the other", () => {
  test.concurrent.each(fewIfShort(1, overHttp))(
    "is answered: %s",
    async (kind) => {
      await using service = await Service.start()
      await using client = await connectClient(kind, service)
      const started = await client.call("start", { command: "sleep 8; echo done" })
      const { execution_id } = Object(started.structuredContent)
      let progress = 0

      const call = client.call("wait", { execution_id }, { onprogress: () => void progress++ })
      for (let deaths = 1; deaths <= 2; deaths++) {
        await until("it is told of progress", () => progress >= deaths)
        const killed = service.gatewayPid
        process.kill(killed, "SIGKILL")
        await until("there is another gateway", () => isReplaced(service, killed))
      }

      expect((await call).structuredContent).toMatchObject({ succeeded: true, newest: "done\n" })
    },
    timeoutMs,
  )
})

test(
  "a legacy call that asks for no progress is answered all the same",
  async () => {
    await using service = await Service.start()
    await using client = await connectClient("SDK v2 over HTTP, legacy", service)

    const call = client.call("run", { command: "sleep 3; echo done", labels: { test: "x" } })
    await until("it runs", async () => (await executionsOf(client)).length === 1)
    process.kill(service.gatewayPid, "SIGKILL")

    expect((await call).structuredContent).toMatchObject({ succeeded: true, text: "done\n" })
    expect(await executionsOf(client)).toHaveLength(1)
  },
  timeoutMs,
)

const withVariables = {
  name: "run",
  arguments: { command: "true", env: { SECRET: "x" } },
  _meta: { "cc-executor/idempotency-key": "k" },
}

test.each([
  ["nothing", ""],
  ["junk", "not an id"],
  ["a request that may not be repeated", idOf({ name: "start", arguments: { command: "true" } })],
  ["a request without a key", idOf({ name: "run", arguments: { command: "true" } })],
  ["a request with variables", idOf(withVariables)],
  ["a bomb", Buffer.from(Bun.deflateSync(new Uint8Array(4_000_000))).toString("base64url")],
])("an event id that is %s is refused, and starts nothing", async (_, id) => {
  await using client = await connectClient("SDK v2 over HTTP, auto", unharmed)
  const before = await executionsOf(client)
  const url = (await unharmed.listening).href.replace(/^ws(.*)\/ws\/mcp/, "http$1/mcp")

  const headers = { "Last-Event-ID": id, Accept: "text/event-stream" }
  const refused = await fetch(url, { headers })

  expect(refused.status).toBe(405)
  expect(await executionsOf(client)).toEqual(before)
})

test("a command that is too long for an id is run, though it cannot be gone on with", async () => {
  const noise = crypto.getRandomValues(new Uint8Array(20_000)).toHex()
  const params = { name: "run", arguments: { argv: ["sh", "-c", "sleep 1", noise] } }

  const answer = await sendModern(unharmed, "tools/call", params, { meta: { progressToken: 1 } })
  const text = await answer.text()

  expect(text).toContain("notifications/progress")
  expect(text).not.toContain("id: ")
  expect(text).toContain('"succeeded":true')
})

test.each([
  ["in its arguments", { env: { SECRET: "hush" } }, {}],
  ["by default", {}, { "cc-executor/defaults": { env: { SECRET: "hush" } } }],
])("variables %s are in no id, whose header may be logged", async (_, args, meta) => {
  const params = { name: "run", arguments: { command: "sleep 1; echo $SECRET", ...args } }

  const options = { meta: { progressToken: 1, ...meta } }
  const answer = await sendModern(unharmed, "tools/call", params, options)
  const text = await answer.text()

  expect(text).toContain("notifications/progress")
  expect(text).not.toContain("id: ")
  expect(text).toContain('"text":"hush\\n"')
})

function idOf(params: object): string {
  const request = { jsonrpc: "2.0", id: 1, method: "tools/call", params }
  const text = JSON.stringify({ askedAtMs: Date.now(), request })
  return Buffer.from(Bun.deflateSync(text)).toString("base64url")
}

function isReplaced(service: Service, killed: number): boolean {
  try {
    return service.gatewayPid !== killed
  } catch {
    return false // between two of them
  }
}

async function executionsOf(client: McpClient): Promise<unknown[]> {
  const listed = await client.call("list", {})
  return z.object({ executions: z.array(z.unknown()) }).parse(listed.structuredContent).executions
}
