import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js"
import { WebSocketClientTransport } from "@modelcontextprotocol/sdk/client/websocket.js"
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js"
import { mcpUrl } from "../support/mcp-clients.ts"
import { envelope } from "../support/modern-mcp.ts"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"
import { bearing, makeToken, revokeToken } from "../support/tokens.ts"
import { until } from "../support/until.ts"

let service: Service

beforeAll(async () => {
  service = await Service.start()
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

/** Listens to resources until disposed, and notes whatever is told. */
type Listening = AsyncDisposable & { updated: string[] }

const ways: Record<string, (uris: string[]) => Promise<Listening>> = {
  "SDK v1 over WebSocket": async (uris) => {
    const client = new FirstClient({ name: "t", version: "1" })
    await client.connect(new WebSocketClientTransport(await service.listening))
    const updated: string[] = []
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
      updated.push(params.uri)
    })
    for (const uri of uris) await client.subscribeResource({ uri })
    return { updated, [Symbol.asyncDispose]: () => client.close() }
  },
  "SDK v2 over HTTP, 2026-07-28": async (uris) => {
    const client = new Client(
      { name: "t", version: "1" },
      { versionNegotiation: { mode: { pin: "2026-07-28" } } },
    )
    await client.connect(new StreamableHTTPClientTransport(await mcpUrl(service)))
    const updated: string[] = []
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      updated.push(params.uri)
    })
    await client.listen({ resourceSubscriptions: uris })
    return { updated, [Symbol.asyncDispose]: () => client.close() }
  },
  "a plain WebSocket, 2026-07-28": async (uris) => {
    const socket = new WebSocket((await service.listening).href, ["mcp"])
    const updated: string[] = []
    const isAcknowledged = Promise.withResolvers<void>()
    socket.addEventListener("message", ({ data }) => {
      const { method, params } = JSON.parse(String(data))
      if (method === "notifications/subscriptions/acknowledged") isAcknowledged.resolve()
      if (method === "notifications/resources/updated") updated.push(params.uri)
    })
    await new Promise((resolve) => socket.addEventListener("open", resolve))
    const params = { notifications: { resourceSubscriptions: uris }, _meta: envelope() }
    socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params }))
    await isAcknowledged.promise
    return { updated, [Symbol.asyncDispose]: async () => socket.close() }
  },
}

describe.each(Object.keys(ways))("whoever listens by %s", (way) => {
  const listenTo = (uris: string[]) => ways[way]?.(uris) ?? Promise.reject(new Error(way))

  test("hears of output, of changes of state, and of nothing else", async () => {
    using mine = await start("read line; echo $line; read line")
    using other = await start("read line; echo $line")
    const uri = `cc-executor://executions/${mine.id}`
    await using listening = await listenTo([uri, `${uri}/transcript`, `${uri}/receipt`])

    await other.send("unheard\n")
    await mine.send("heard\n")
    await until("output is told", () => listening.updated.includes(`${uri}/transcript`))
    const beforeTheEnd = [...listening.updated]
    await mine.send("\n")
    await until("the end is told", () => listening.updated.includes(`${uri}/receipt`))

    expect(new Set(beforeTheEnd)).toEqual(new Set([`${uri}/transcript`]))
    await until("all of it is told", () => new Set(listening.updated).size === 3)
    expect(listening.updated).toContain(uri)
  })
})

test("a token that is revoked hears no more, and its stream is ended", async () => {
  const token = await makeToken(service.stateDir, { name: "listener", scope: "read,execute" })
  const requestInit = bearing(token)
  const client = new Client(
    { name: "t", version: "1" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  )
  const url = await mcpUrl(service)
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }))
  const started = await client.callTool({ name: "start", arguments: { command: "sleep 60" } })
  const { execution_id } = Object(started.structuredContent)
  const uri = `cc-executor://executions/${execution_id}`
  const subscription = await client.listen({ resourceSubscriptions: [uri] })

  await revokeToken(service.stateDir, "listener")

  await subscription.closed
  using owner = await RawSession.open((await service.listening).href)
  await owner.call("control", { type: "CANCEL", execution_id })
  await client.close()
})

async function start(command: string) {
  const session = await RawSession.open((await service.listening).href)
  const { execution_id: id } = await session.call("execute", { command, stdin: "pipe" })
  return {
    id,
    send: (data: string) => session.call("input", { execution_id: id, data }),
    [Symbol.dispose]: () => session[Symbol.dispose](),
  }
}
