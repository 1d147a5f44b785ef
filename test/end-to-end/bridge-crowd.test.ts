import { describe, expect, test } from "bun:test"
import { callTool, httpTransport, mcpClient, SocketTransport } from "../support/bridge-clients.ts"
import { BridgeProcess } from "../support/bridge-process.ts"
import { exampleOverSocket } from "../support/example-server.ts"
import { until } from "../support/until.ts"

describe("fifty clients at once", () => {
  test.each(["ws", "http"])(
    "over %s each get their own answers",
    async (listen) => {
      using target = exampleOverSocket()
      await using bridge = await BridgeProcess.start([
        "--listen",
        `${listen}:0`,
        "--to",
        target.url,
      ])
      const url = await bridge.listening

      const sums = await Promise.all(
        Array.from({ length: 50 }, async (_, a) => {
          const transport = listen === "ws" ? new SocketTransport(url) : httpTransport(url)
          const client = await mcpClient(a % 2 === 0 ? "legacy" : "modern", transport)
          const texts = await Promise.all([1, 2, 3].map((b) => callTool(client, "add", { a, b })))
          await client.close()
          return texts.join()
        }),
      )

      expect(sums).toEqual(Array.from({ length: 50 }, (_, a) => `${a + 1},${a + 2},${a + 3}`))
    },
    60_000,
  )

  test("over ws are let in up to the bound", async () => {
    using target = exampleOverSocket()
    const argv = ["--listen", "ws:0", "--to", target.url, "--max-connections", "2"]
    await using bridge = await BridgeProcess.start(argv)
    const url = await bridge.listening

    const clients = [new SocketTransport(url), new SocketTransport(url)]
    await Promise.all(clients.map((client) => client.start()))

    expect(new SocketTransport(url).start()).rejects.toThrow("closed")
    await Promise.all(clients.map((client) => client.close()))
    await until("a place is free", () =>
      new SocketTransport(url).start().then(
        () => true,
        () => false,
      ),
    )
  })
})
