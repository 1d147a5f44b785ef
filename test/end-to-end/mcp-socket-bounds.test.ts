import { expect, test } from "bun:test"
import { connectClient } from "../support/mcp-clients.ts"
import { McpTalk } from "../support/mcp-talk.ts"
import { PausedMcpClient } from "../support/paused-mcp-client.ts"
import { Service } from "../support/service.ts"
import { until } from "../support/until.ts"

const timeoutMs = 60_000

test(
  "a client that reads late and slowly gets all its answers, and others get theirs meanwhile",
  async () => {
    await using service = await Service.start()
    await using other = await connectClient("SDK v1 over WebSocket", service)
    const argv = ["head", "-c", "1000000", "/dev/zero"] // each byte takes six in JSON
    const ran = await other.call("run", { argv })
    const { execution_id } = Object(ran.structuredContent)
    using client = await PausedMcpClient.open(await service.listening)
    const ids = Array.from({ length: 40 }, (_, index) => index)

    for (const id of ids) client.call(id, "output", { execution_id, max_bytes: 100_000 })
    await other.call("run", { command: "sleep 1" })
    client.read()
    await until("it has all of them", () => client.isClosed || client.answered.size > ids.length)

    expect([...client.answered]).toEqual(expect.arrayContaining(ids))
    expect(client.isClosed).toBe(false)
  },
  timeoutMs,
)

test("an id that is in use is refused, and its first request answered", async () => {
  await using service = await Service.start()
  await using client = await McpTalk.open(service)
  const first = { name: "run", arguments: { command: "sleep 1; echo first" } }
  const second = { name: "run", arguments: { command: "echo second" } }

  client.send({ id: 7, method: "tools/call", params: first })
  client.send({ id: 7, method: "tools/call", params: second })
  const answer = await client.answerTo(7)
  client.send({ id: 7, method: "tools/call", params: second })
  await until("it is free again", () => client.heard.filter(({ id }) => id === 7).length === 2)

  expect(answer.result?.["structuredContent"]).toMatchObject({ text: "first\n" })
  const refused = client.heard.filter(({ error }) => error !== undefined)
  expect(refused).toMatchObject([{ id: null, error: { code: -32600 } }])
  expect(refused[0]?.error?.message).toContain("The id 7 is in use")
})
