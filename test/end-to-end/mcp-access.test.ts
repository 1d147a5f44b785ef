import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { z } from "zod"
import { tools } from "../../src/service/transports/mcp/tools/tools.ts"
import { refusalCount, untilNoted } from "../support/audit-lines.ts"
import { mcpUrl } from "../support/mcp-clients.ts"
import { askModern, sendModern } from "../support/modern-mcp.ts"
import { Service } from "../support/service.ts"
import { bearing, makeToken, revokeToken } from "../support/tokens.ts"
import { until } from "../support/until.ts"

let service: Service
let alice: string
let bob: string
let reader: string

beforeAll(async () => {
  service = await Service.start()
  const scope = "execute,control,read"
  alice = await makeToken(service.stateDir, { name: "alice", scope })
  bob = await makeToken(service.stateDir, { name: "bob", scope })
  reader = await makeToken(service.stateDir, { name: "reader", scope: "read" })
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

describe("what belongs to somebody else", () => {
  // Works are files: see work-mcp.test.ts and review-mcp.test.ts.
  const names = tools.map(({ name }) => name)
  const ofExecutions = names.filter((name) => !/^(?:work|review)_/.test(name))

  test.each(ofExecutions)("is not there for %s", async (name) => {
    const id = await started(alice)

    const answer = await call(bob, name, argumentsFor(name, id))

    if (["start", "run", "list"].includes(name)) {
      expect(answer.isError).not.toBe(true) // they are about one's own
      expect(JSON.stringify(answer)).not.toContain(id)
    } else {
      expect(answer.isError).toBe(true)
      expect(answer.content[0]?.text).toStartWith("PROCESS_NOT_FOUND")
      await untilNoted(service.stateDir, {
        principal: "bob",
        method: name,
        reason: "PROCESS_NOT_FOUND",
        ...(name === "agent_start" ? {} : { execution_id: id }), // that names a session to resume
        via: "mcp-http",
      })
    }
  })

  test.each(["", "/transcript", "/receipt"])("is not there as a resource%s", async (kind) => {
    const id = await started(alice)

    const uri = `cc-executor://executions/${id}${kind}`
    const read = await ask(bob, "resources/read", { uri })
    const listed = await ask(bob, "resources/list", {})
    const completed = await ask(bob, "completion/complete", {
      ref: { type: "ref/resource", uri: "cc-executor://executions/{id}" },
      argument: { name: "id", value: id.slice(0, 4) },
    })

    expect(read.error).toMatchObject({ code: -32602, data: { uri } })
    expect(JSON.stringify(listed)).not.toContain(id)
    expect(JSON.stringify(completed)).not.toContain(id)
  })

  test("is no task of one's own", async () => {
    const made = await ask(alice, "tools/call", {
      name: "run",
      arguments: { command: "sleep 30" },
    })
    const { taskId } = z.object({ taskId: z.string() }).parse(made.result)

    for (const method of ["tasks/get", "tasks/cancel", "tasks/update"]) {
      const refused = await ask(bob, method, { taskId })
      expect(refused.error).toMatchObject({ code: -32602 })
    }
    const still = await ask(alice, "tasks/get", { taskId })
    expect(still.result).toMatchObject({ status: "working" })
    await ask(alice, "tasks/cancel", { taskId })
  })
})

describe("who may only read", () => {
  test.each([
    ["start", { command: "true" }],
    ["run", { command: "true" }],
  ])("may not %s", async (name, args) => {
    const answer = await call(reader, name, args)

    expect(answer.content[0]?.text).toStartWith("FORBIDDEN")
    expect(answer.content[0]?.text).toContain("`execute`")
  })

  test("may list", async () => {
    expect((await call(reader, "list", {})).isError).not.toBe(true)
  })
})

describe("a token", () => {
  test.each(["wrong", "x".repeat(1000), ""])("%p is refused over HTTP", async (token) => {
    const refused = await sendModern(service, "tools/list", {}, bearing(token))

    expect(refused.status).toBe(401)
    expect(await refused.json()).toMatchObject({
      jsonrpc: "2.0",
      id: null,
      error: { data: { reason: "UNAUTHORIZED" } },
    })
  })

  test("that is wrong opens no WebSocket", async () => {
    const options = { protocols: ["mcp"], ...bearing("wrong") }
    const socket = new WebSocket((await service.listening).href, options)

    const closed = await new Promise<CloseEvent>((resolve) => {
      socket.addEventListener("close", resolve)
    })

    expect(closed.code).toBe(1006)
  })

  test("that is revoked ends its WebSocket, and says why", async () => {
    const token = await makeToken(service.stateDir, { name: "shortly", scope: "read" })
    const options = { protocols: ["mcp"], ...bearing(token) }
    const socket = new WebSocket((await service.listening).href, options)
    const heard: string[] = []
    socket.addEventListener("message", ({ data }) => heard.push(String(data)))
    await new Promise((resolve) => socket.addEventListener("open", resolve))

    const isClosed = new Promise<CloseEvent>((resolve) => {
      socket.addEventListener("close", resolve)
    })
    await revokeToken(service.stateDir, "shortly")

    expect((await isClosed).code).toBe(1008)
    expect(heard.join()).toContain("UNAUTHORIZED")
  })
})

describe("a page of another site", () => {
  test.each([
    ["Origin", { Origin: "https://evil.example" }],
    ["Sec-Fetch-Site", { "Sec-Fetch-Site": "cross-site" }],
    ["Host", { Host: "evil.example" }],
  ])("is known by its %s, over HTTP and WebSocket", async (_, headers) => {
    const answer = await sendModern(service, "tools/list", {}, { headers })
    const url = (await service.listening).href.replace(/^ws/, "http")
    const upgrade = await fetch(url, {
      headers: {
        Connection: "Upgrade",
        Upgrade: "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Protocol": "mcp",
        ...headers,
      },
    })

    expect(answer.status).toBe(403)
    expect(upgrade.status).toBe(403)
  })
})

describe("where an allow-list rules", () => {
  test("nothing else is started, by any tool, and every try is noted", async () => {
    await using strict = await Service.start({ flags: { "allowed-commands": "echo" } })
    const token = await makeToken(strict.stateDir, { name: "agent" })
    const client = new Client({ name: "t", version: "1" })
    const requestInit = bearing(token)
    await client.connect(new StreamableHTTPClientTransport(await mcpUrl(strict), { requestInit }))
    const tries = [
      { command: "id" },
      { command: "echo hi; id" },
      { command: "echo $(id)" },
      { argv: ["/bin/sh", "-c", "id"] },
      { command: ["id"] },
      { command: "echo", env: { LD_PRELOAD: "/tmp/x.so" } },
    ]

    for (const args of tries) {
      for (const name of ["start", "run"]) {
        const answer = await client.callTool({ name, arguments: args })
        expect(JSON.stringify(answer.content)).toContain("SECURITY_DENIED")
      }
    }
    // Works are run by this program as a command, so it must be on the list.
    const work = await client.callTool({ name: "work_status", arguments: { path: "/T.md" } })
    const allowed = await client.callTool({ name: "run", arguments: { command: "echo hi" } })

    expect(JSON.stringify(work.content)).toContain("SECURITY_DENIED")
    expect(allowed.structuredContent).toMatchObject({ text: "hi\n", succeeded: true })
    const listed = await client.callTool({ name: "list", arguments: {} })
    expect(Object(listed.structuredContent).executions).toHaveLength(1)
    await client.close()
    const count = () => refusalCount(strict.stateDir, "SECURITY_DENIED")
    await until("every try is noted", () => count() >= tries.length * 2 + 1)
    expect(count()).toBe(tries.length * 2 + 1)
  })
})

function argumentsFor(name: string, execution_id: string): Record<string, unknown> {
  switch (name) {
    case "start":
    case "run":
      return { command: "true" }
    case "list":
      return {}
    case "input":
    case "agent_send":
      return { execution_id, text: "x" }
    case "agent_start":
      return { resume: execution_id }
    case "agent_answer":
      return { execution_id, question_id: "q1", behavior: "allow" }
    case "signal":
      return { execution_id, signal: "SIGHUP" }
    case "verify":
      return { execution_id, contains: "x" }
    default:
      return { execution_id }
  }
}

const Called = z.looseObject({
  isError: z.boolean().optional(),
  content: z.array(z.looseObject({ text: z.string() })),
  structuredContent: z.any().optional(),
})

async function call(token: string, name: string, args: Record<string, unknown>) {
  const params = { name, arguments: args }
  const { result } = await askModern(service, "tools/call", params, bearing(token))
  return Called.parse(result)
}

function ask(token: string, method: string, params: Record<string, unknown>) {
  return askModern(service, method, params, { tasks: true, ...bearing(token) })
}

/** Something of somebody's that ends by itself soon. */
async function started(token: string): Promise<string> {
  const { structuredContent } = await call(token, "start", { command: "sleep 5", stdin: "pipe" })
  return structuredContent.execution_id
}
