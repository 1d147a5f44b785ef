import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { rejection } from "../support/following.ts"
import { type ClientKind, connectClient, type McpClient } from "../support/mcp-clients.ts"
import { Service } from "../support/service.ts"
import { until } from "../support/until.ts"

let service: Service

beforeAll(async () => {
  service = await Service.start()
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
})

/** Whoever has a connection can say that a call is cancelled; over HTTP it can only be cut off. */
const connected: ClientKind[] = [
  "SDK v1 over WebSocket",
  "SDK v2 over stdio, legacy",
  "SDK v2 over stdio, 2026-07-28",
]

describe.each(connected)("a call that asked for it, by %s", (kind) => {
  test("takes its execution with it when it is cancelled", async () => {
    await using client = await connectClient(kind, service)
    await using other = await connectClient("SDK v1 over WebSocket", service)
    const labels = { test: crypto.randomUUID() }
    const giveUp = new AbortController()

    const args = { command: "sleep 60", labels, on_cancel: "cancel" }
    const call = client.call("run", args, { signal: giveUp.signal })
    const id = await until("it runs", () => runningId(other, labels))
    giveUp.abort()
    expect(String(await rejection(call))).toContain("")
    const ended = await other.call("wait", { execution_id: id })

    expect(ended.structuredContent).toMatchObject({ ended: true, cause: "client" })
  })

  test("leaves it alone when the client merely goes away", async () => {
    const client = await connectClient(kind, service)
    await using other = await connectClient("SDK v1 over WebSocket", service)
    const labels = { test: crypto.randomUUID() }

    const call = client.call("run", { command: "sleep 2; echo done", labels, on_cancel: "cancel" })
    const id = await until("it runs", () => runningId(other, labels))
    await client[Symbol.asyncDispose]()
    expect(String(await rejection(call))).toContain("")
    const ended = await other.call("wait", { execution_id: id })

    expect(ended.structuredContent).toMatchObject({ succeeded: true, newest: "done\n" })
  })
})

async function runningId(client: McpClient, labels: object): Promise<string | undefined> {
  const listed = await client.call("list", { labels, state: "running" })
  return listed.structuredContent?.["executions"][0]?.execution_id
}
