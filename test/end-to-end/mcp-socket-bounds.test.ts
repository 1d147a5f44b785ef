import { expect, test } from "bun:test"
import { connectClient } from "../support/mcp-clients.ts"
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
