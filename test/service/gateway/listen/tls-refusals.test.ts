import { expect, test } from "bun:test"
import { refusalTally } from "../../../../src/service/gateway/listen/tls-listener.ts"
import { QuietLog } from "../../../support/quiet-log.ts"
import { until } from "../../../support/until.ts"

test("the first refusal is told at once, those right after it together", async () => {
  const log = new QuietLog()
  using tally = refusalTally(log)

  const noise = { address: "192.0.2.7", kind: "handshake", why: "noise" } as const
  for (const port of [1, 2, 3]) tally.add({ ...noise, port })

  expect(log.entries.map(({ facts }) => facts)).toEqual([{ ...noise, port: 1, count: 1 }])
  await until("the others", () => log.entries.length === 2)
  expect(log.entries[1]).toEqual({
    level: "warn",
    facts: { ...noise, port: 3, count: 2 },
    event: "tls connection refused",
  })
})
