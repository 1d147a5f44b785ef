import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { auditAttempts, untilNoted } from "../support/audit-lines.ts"
import { McpTalk } from "../support/mcp-talk.ts"
import { askModern } from "../support/modern-mcp.ts"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { bearing, makeToken } from "../support/tokens.ts"

let service: Service
let blind: string
let stranger: string
let id: string

beforeAll(async () => {
  service = await Service.start()
  blind = await makeToken(service.stateDir, { name: "blind", scope: "execute" })
  stranger = await makeToken(service.stateDir, { name: "stranger", scope: "read,control" })
  using owner = await RawSession.open((await service.listening).href)
  id = (await owner.call("execute", { command: "sleep 60" })).execution_id
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

const completion = {
  ref: { type: "ref/resource", uri: "cc-executor://executions/{id}" },
  argument: { name: "id", value: "" },
}

describe("without the scope to read", () => {
  test.each([
    ["resources/read", () => ({ uri: uri() }), true],
    ["resources/list", () => ({}), false],
    ["resources/subscribe", () => ({ uri: uri() }), true],
    ["completion/complete", () => completion, false],
  ] as const)("%s is refused, and noted", async (method, params, hasId) => {
    await using client = await McpTalk.open(service, { token: blind })

    const refused = await client.ask({ id: 1, method, params: params() })

    expect(refused.error?.data).toMatchObject({ reason: "FORBIDDEN" })
    const facts = { principal: "blind", method, reason: "FORBIDDEN", via: "mcp-websocket" }
    await untilNoted(service.stateDir, hasId ? { ...facts, execution_id: id } : facts)
  })

  test.each(["tasks/get", "tasks/cancel", "tasks/update"])("so is %s", async (method) => {
    const options = { tasks: true, ...bearing(blind) }
    const refused = await askModern(service, method, { taskId: `${id}.20000` }, options)

    expect(refused.error?.data).toMatchObject({ reason: "FORBIDDEN" })
    const facts = { principal: "blind", method, reason: "FORBIDDEN", via: "mcp-http" }
    await untilNoted(service.stateDir, { ...facts, execution_id: id })
  })
})

describe("what belongs to somebody else", () => {
  test.each(["resources/read", "resources/subscribe"])("is noted for %s", async (method) => {
    await using client = await McpTalk.open(service, { token: stranger })

    const refused = await client.ask({ id: 1, method, params: { uri: uri() } })

    expect(refused.error?.code).toBe(-32602)
    await untilNoted(service.stateDir, notFound(method))
  })

  test.each(["tasks/get", "tasks/cancel", "tasks/update"])("is noted for %s", async (method) => {
    const options = { tasks: true, ...bearing(stranger) }
    const refused = await askModern(service, method, { taskId: `${id}.20000` }, options)

    expect(refused.error?.code).toBe(-32602)
    await untilNoted(service.stateDir, notFound(method))
  })
})

test("nothing is noted twice", async () => {
  using folder = temporaryFolder()
  const stateDir = folder.path
  const methods = ["resources/read", "resources/list", "resources/subscribe", "completion/complete"]
  {
    await using noting = await Service.start({ stateDir })
    const token = await makeToken(stateDir, { name: "blind", scope: "execute" })
    await using client = await McpTalk.open(noting, { token })
    for (const [index, method] of methods.entries()) {
      await client.ask({ id: index, method, params: { uri: uri(), ...completion } })
    }
    await askModern(
      noting,
      "tasks/get",
      { taskId: `${id}.20000` },
      { tasks: true, ...bearing(token) },
    )
  } // at its end it tells what it has only counted

  const noted = auditAttempts(stateDir).filter(({ principal }) => principal === "blind")
  expect(noted.map(({ method, count = 1 }) => [method, count])).toEqual(
    [...methods, "tasks/get"].map((method) => [method, 1]),
  )
})

function notFound(method: string) {
  return { principal: "stranger", method, reason: "PROCESS_NOT_FOUND", execution_id: id } as const
}

function uri(): string {
  return `cc-executor://executions/${id}`
}
