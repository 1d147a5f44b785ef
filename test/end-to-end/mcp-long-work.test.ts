import { describe, expect, test } from "bun:test"
import { z } from "zod"
import { isLong } from "../stress/support/scale.ts"
import { rejection } from "../support/following.ts"
import { clientKinds, connectClient, type McpClient } from "../support/mcp-clients.ts"
import { Service } from "../support/service.ts"

/**
 * Clients give up on a call after a minute; work takes as long as it takes. In the long mode the
 * lengths are the real ones.
 */
const { callMs, waitS, jobS } = isLong
  ? { callMs: 60_000, waitS: 45, jobS: 600 }
  : { callMs: 3000, waitS: 2, jobS: 30 }
const lines = 300
const job = `for i in $(seq ${lines}); do echo line $i; sleep ${jobS / lines}; done; echo the end`
const expected = `${Array.from({ length: lines }, (_, i) => `line ${i + 1}\n`).join("")}the end\n`

describe(`an execution of ${jobS} s, by calls that are cut off after ${callMs / 1000} s`, () => {
  test.concurrent.each(clientKinds)(
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

const Listed = z.object({ executions: z.tuple([z.looseObject({ execution_id: z.string() })]) })

/** Waits again and again, and reads what is new in between. */
async function follow(client: McpClient, execution_id: string, options: { timeout: number }) {
  let text = ""
  let from = "start"
  for (let waits = 1; ; waits++) {
    await client.call("wait", { execution_id, timeout_s: waitS }, options)
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
