import { describe, expect, test } from "bun:test"
import { ModernRequests } from "../../../src/bridge/clients/modern-requests.ts"
import type { RequestMessage } from "../../../src/bridge/messages/message.ts"
import { targetLimits } from "../../../src/bridge/targets/target-opener.ts"
import { ok } from "../../../src/lib/result.ts"
import { QuietLog } from "../../support/quiet-log.ts"
import { recordedTargets } from "../../support/recorded-targets.ts"
import { until } from "../../support/until.ts"

const waitMs = 1_000

describe("requests that wait for a connection", () => {
  test("are not forgotten because others have given up waiting", async () => {
    const { opened, open } = recordedTargets()
    const requests = new ModernRequests(
      {
        address: { scheme: "http", host: "127.0.0.1", port: 0, path: null },
        guard: () => ok(null),
        openTarget: open,
        limits: targetLimits(1024),
        connections: 1,
        idleMs: 60_000,
        log: new QuietLog(),
      },
      waitMs,
    )
    const first = ask(requests, 1)
    await until("it is asked", () => opened[0]?.sent.length === 1)
    const gaveUp = await ask(requests, 2)

    const waiting = ask(requests, 3)
    await opened[0]?.say({ id: 1, result: {} })
    await until("the next is asked", () => opened[0]?.sent.length === 2)
    await opened[0]?.say({ id: 3, result: {} })

    expect(gaveUp.status).toBe(503)
    expect((await first).status).toBe(200)
    expect((await waiting).status).toBe(200) // forgotten, it would give up as well
    await requests.close()
  })
})

function ask(requests: ModernRequests, id: number): Promise<Response> {
  const text = JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })
  const key = `${id}`
  const message: RequestMessage = { kind: "request", text, id, key, method: "ping", params: {} }
  return requests.answer(message, new Request("http://127.0.0.1/"), true)
}
