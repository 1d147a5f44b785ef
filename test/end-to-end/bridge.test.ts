import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import type { Transport } from "@modelcontextprotocol/client"
import {
  callTool,
  httpTransport,
  mcpClient,
  ProgramTransport,
  SocketTransport,
} from "../support/bridge-clients.ts"
import { BridgeProcess } from "../support/bridge-process.ts"
import { exampleOverHttp, exampleOverSocket } from "../support/example-server.ts"
import { fewIfShort } from "../support/scale.ts"
import { executable } from "../support/service.ts"

const listens = ["stdio", "ws", "http"] as const
const targets = ["ws", "http", "stdio"] as const
const program = [process.execPath, join(import.meta.dir, "../fixtures/example-mcp-server.ts")]

const pairs = listens.flatMap((listen) => targets.map((to) => [listen, to] as const))

/** A short run has every pair, with one era or the other. */
const combinations = fewIfShort(
  pairs.length,
  [0, 1].flatMap((shift) =>
    pairs.map(([listen, to], nth) => {
      return [listen, to, nth % 2 === shift ? "legacy" : "modern"] as const
    }),
  ),
)

describe.each(combinations)("a bridge from %s to %s, %s era", (listen, to, era) => {
  test("carries tools, progress, errors and many calls at once", async () => {
    await using stack = new AsyncDisposableStack()
    const transport = await bridged(stack, listen, to)
    const client = await mcpClient(era, transport)
    stack.defer(() => client.close())

    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain("add")
    expect(await callTool(client, "add", { a: 2, b: 3 })).toBe("5")

    const progress: number[] = []
    const onprogress = (at: { progress: number }) => void progress.push(at.progress)
    const counted = await client.callTool({ name: "count", arguments: { to: 3 } }, { onprogress })
    expect(counted.content).toEqual([{ type: "text", text: "counted to 3" }])
    expect(progress).toEqual([1, 2, 3])

    const sums = await Promise.all(
      Array.from({ length: 20 }, (_, a) => callTool(client, "add", { a, b: 1 })),
    )
    expect(sums).toEqual(Array.from({ length: 20 }, (_, a) => String(a + 1)))

    const wrong = client.request({ method: "tools/call", params: { name: "none" } })
    expect(wrong).rejects.toThrow(/none/)
    await wrong.catch(() => undefined)
  })
})

/** A short run has everything to listen on once, and every kind of target. */
const pairsInSession = fewIfShort(
  listens.length,
  pairs.toSorted((one, other) => distance(one) - distance(other)),
)

describe.each(pairsInSession)("a bridge from %s to %s, in a session", (listen, to) => {
  test("carries what the server asks its client", async () => {
    await using stack = new AsyncDisposableStack()
    const client = await mcpClient("legacy", await bridged(stack, listen, to))
    stack.defer(() => client.close())

    expect(await callTool(client, "ask")).toBe('{"word":"swordfish"}')
  })
})

/** How far the target is from the listener's place in its list. */
function distance([listen, to]: (typeof pairs)[number]): number {
  const away = targets.indexOf(to) - listens.indexOf(listen)
  return (away + targets.length) % targets.length
}

async function bridged(
  stack: AsyncDisposableStack,
  listen: (typeof listens)[number],
  to: (typeof targets)[number],
): Promise<Transport> {
  const argv = targetArguments(stack, to)
  if (listen === "stdio") {
    return stack.use(new ProgramTransport([executable, "bridge", ...argv]))
  }
  const bridge = stack.use(await BridgeProcess.start(["--listen", `${listen}:0`, ...argv]))
  const url = await bridge.listening
  return listen === "ws" ? new SocketTransport(url) : httpTransport(url)
}

function targetArguments(
  stack: AsyncDisposableStack,
  to: (typeof targets)[number],
): readonly string[] {
  if (to === "stdio") return ["--", ...program]
  const endpoint = stack.use(to === "ws" ? exampleOverSocket() : exampleOverHttp())
  return ["--to", endpoint.url]
}
