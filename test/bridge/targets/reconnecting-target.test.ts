import { describe, expect, test } from "bun:test"
import { noResumeState } from "../../../src/bridge/ports.ts"
import {
  systemClock,
  targetLimits,
  targetOpener,
} from "../../../src/bridge/targets/target-opener.ts"
import { ok } from "../../../src/lib/result.ts"
import { QuietLog } from "../../support/quiet-log.ts"
import { until } from "../../support/until.ts"

describe("a target that reads nothing", () => {
  test("can be closed while the first message is being sent", async () => {
    let isSending = false
    let isClosed = false
    const never = new Promise<never>(() => undefined)
    const link = {
      isOpen: true,
      send: () => {
        isSending = true
        return never
      },
      ended: never,
      async close() {
        isClosed = true
      },
    }
    const open = targetOpener(
      { kind: "connection", name: "target", isOurs: false, open: async () => ok(link) },
      {
        retry: { tries: 1, forMs: 1_000, firstDelayMs: 1, maxDelayMs: 1 },
        breaker: { failures: 10, waitMs: 1_000 },
        limits: targetLimits(1024),
        clock: systemClock,
        log: new QuietLog(),
        callMeta: {},
      },
    )
    const target = open(async () => undefined, noResumeState)
    const text = '{"id":1,"method":"ping"}'
    await target.send({ kind: "request", text, id: 1, key: "1", method: "ping", params: {} })
    await until("it sends", () => isSending)

    await target.close("ended")

    expect(isClosed).toBe(true)
  })
})
