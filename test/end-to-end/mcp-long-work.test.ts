import { describe, expect, test } from "bun:test"
import type { Transport } from "@modelcontextprotocol/client"
import { z } from "zod"
import { httpTransport, ProgramTransport, SocketTransport } from "../support/bridge-clients.ts"
import { BridgeProcess } from "../support/bridge-process.ts"
import { rejection } from "../support/following.ts"
import { clientKinds, connectClient, connectOver, type McpClient } from "../support/mcp-clients.ts"
import { byScale, fewIfShort } from "../support/scale.ts"
import { executable, Service } from "../support/service.ts"

/**
 * Clients give up on a call after a minute; work takes as long as it takes. In the long mode the
 * lengths are the real ones.
 */
const { callMs, waitS, jobS } = byScale({
  short: { callMs: 6000, waitS: 1, jobS: 10 },
  full: { callMs: 6000, waitS: 2, jobS: 30 },
  long: { callMs: 60_000, waitS: 45, jobS: 600 },
})
const lines = byScale({ short: 50, full: 300, long: 300 })
const job = `for i in $(seq ${lines}); do echo line $i; sleep ${jobS / lines}; done; echo the end`
const expected = `${Array.from({ length: lines }, (_, i) => `line ${i + 1}\n`).join("")}the end\n`

describe(`an execution of ${jobS} s, by calls that are cut off after ${callMs / 1000} s`, () => {
  test.concurrent.each(fewIfShort(2, clientKinds))(
    "completes, and all of its output is read: %s",
    async (kind) => {
      await using service = await Service.start()
      await using client = await connectClient(kind, service)
      const options = { timeout: callMs }

      // As somebody would who knows nothing of long work: it is cut off, and found again.
      const labels = { job: kind }
      const cutOff = client.call("run", { command: job, labels, wait_s: jobS * 2 }, options)
      expect(String(await rejection(cutOff))).toContain("timed out")
      const listed = await client.call("list", { labels }, options)
      const { execution_id } = Listed.parse(listed.structuredContent).executions[0]
      await client.call("wait", { execution_id, timeout_s: 0 }, options)
      const { text, waits } = await follow(client, execution_id, options)
      const end = await client.call("wait", { execution_id }, options)

      expect(text).toBe(expected)
      expect(waits).toBeGreaterThan((jobS - callMs / 1000) / waitS / 2)
      expect(end.structuredContent).toMatchObject({ succeeded: true, ended: true })
      expect(end.structuredContent?.["elapsed_s"]).toBeGreaterThan(jobS * 0.9)
    },
    jobS * 3000 + 60_000,
  )
})

describe(`the same through a bridge, with the service's gateway killed in the middle`, () => {
  const bridges = [
    ["http", "/ws/mcp", "legacy"],
    ["stdio", "/ws/mcp", { pin: "2026-07-28" }],
    ["http", "/mcp", { pin: "2026-07-28" }],
    ["ws", "/mcp", "legacy"],
  ] as const
  test.concurrent.each(fewIfShort(2, bridges))(
    "completes, and all of its output is read: from %s to %s, %j",
    async (listen, path, mode) => {
      await using service = await Service.start()
      const to = await service.url(path)
      await using carried = await carry(listen, to)
      await using client = await connectOver(carried.transport, mode)
      const options = { timeout: callMs }

      const started = await client.call("start", { command: job }, options)
      const { execution_id } = Started.parse(started.structuredContent)
      let hasDied = false
      const { text } = await follow(client, execution_id, options, (waits) => {
        if (hasDied || waits < jobS / waitS / 2) return
        hasDied = true
        process.kill(service.gatewayPid, "SIGKILL")
      })

      expect(hasDied).toBe(true)
      expect(text).toBe(expected)
      const listed = await client.call("list", {}, options)
      expect(Listed.parse(listed.structuredContent).executions[0]).toMatchObject({
        execution_id,
        succeeded: true,
      })
    },
    jobS * 3000 + 60_000,
  )
})

type Carried = AsyncDisposable & { transport: Transport }

/** A bridge, and how a client reaches it. */
async function carry(listen: "http" | "ws" | "stdio", to: string): Promise<Carried> {
  if (listen === "stdio") {
    const transport = new ProgramTransport([executable, "bridge", "--to", to])
    return { transport, [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose]() }
  }
  const bridge = await BridgeProcess.start(["--listen", `${listen}:0`, "--to", to])
  const url = await bridge.listening
  const transport = listen === "ws" ? new SocketTransport(url) : httpTransport(url)
  return { transport, [Symbol.asyncDispose]: () => bridge[Symbol.asyncDispose]() }
}

const Started = z.object({ execution_id: z.string() })

const Listed = z.object({ executions: z.tuple([z.looseObject({ execution_id: z.string() })]) })

/** Waits again and again, and reads what is new in between. */
async function follow(
  client: McpClient,
  execution_id: string,
  options: { timeout: number },
  waited: (waits: number) => void = () => undefined,
) {
  let text = ""
  let from = "start"
  for (let waits = 1; ; waits++) {
    const waiting = client.call("wait", { execution_id, timeout_s: waitS }, options)
    waited(waits)
    await waiting
    for (;;) {
      const page = await client.call("output", { execution_id, from }, options)
      const { next, has_more, ended, text: more } = Page.parse(page.structuredContent)
      text += more
      from = next
      if (ended) return { text, waits }
      if (!has_more) break
    }
  }
}

const Page = z.object({
  text: z.string(),
  next: z.string(),
  has_more: z.boolean(),
  ended: z.boolean(),
})
