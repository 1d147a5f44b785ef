import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { McpTalk } from "../support/mcp-talk.ts"
import { Service } from "../support/service.ts"

let service: Service
let client: McpTalk
let lastId = 0

beforeAll(async () => {
  service = await Service.start()
  client = await McpTalk.open(service)
})

afterAll(async () => {
  await client[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

describe("what those on a call's way say of it", () => {
  test.each([
    ["an empty key", { "cc-executor/idempotency-key": "" }],
    ["a key that is too long", { "cc-executor/idempotency-key": "k".repeat(257) }],
    ["a key that is a number", { "cc-executor/idempotency-key": 7 }],
    ["a variable without a name", { "cc-executor/defaults": { env: { "": "x" } } }],
    ["a variable called A=B", { "cc-executor/defaults": { env: { "A=B": "x" } } }],
    ["a directory that is none", { "cc-executor/defaults": { cwd: "" } }],
    ["no object", { "cc-executor/defaults": "/tmp" }],
  ])("is refused when it is %s, and nothing is started", async (_, meta) => {
    const answer = await run(meta)

    const [name = ""] = Object.keys(meta)
    expect(answer).toMatchObject({
      isError: true,
      _meta: { "cc-executor/error": { data: { reason: "INVALID_PARAMS" } } },
    })
    expect(JSON.stringify(answer)).toContain(`${name} in the call's _meta is not valid`)
    expect(await count()).toBe(0)
  })
})

test("what is not the service's in _meta is ignored", async () => {
  const answer = await run({ "cc-executor.example/other": { env: 7 }, traceparent: "00-x" })

  expect(answer).toMatchObject({ structuredContent: { succeeded: true, text: "hi\n" } })
})

async function run(_meta: Record<string, unknown>) {
  const params = { name: "run", arguments: { command: "echo hi" }, _meta }
  return (await client.ask({ id: ++lastId, method: "tools/call", params })).result
}

async function count(): Promise<number> {
  const params = { name: "list", arguments: {} }
  const { result } = await client.ask({ id: ++lastId, method: "tools/call", params })
  return result?.["structuredContent"].executions.length
}
