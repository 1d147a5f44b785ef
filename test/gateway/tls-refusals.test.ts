import { expect, test } from "bun:test"
import { refusalTally } from "../../src/gateway/tls-refusals.ts"
import { QuietLog } from "../support/quiet-log.ts"
import { until } from "../support/until.ts"

test("the first refusal is told at once, those right after it together", async () => {
  const log = new QuietLog()
  using tally = refusalTally(log)

  for (const port of [1, 2, 3]) tally.add({ address: "192.0.2.7", port, why: "noise" })

  expect(log.entries.map(({ facts }) => facts)).toEqual([
    { address: "192.0.2.7", port: 1, why: "noise", count: 1 },
  ])
  await until("the others", () => log.entries.length === 2)
  expect(log.entries[1]).toEqual({
    level: "warn",
    facts: { address: "192.0.2.7", port: 3, why: "noise", count: 2 },
    event: "tls connection refused",
  })
})
