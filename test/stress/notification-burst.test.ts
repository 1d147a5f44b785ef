import { expect, setDefaultTimeout, test } from "bun:test"
import { z } from "zod"
import { memoryOf } from "../support/memory-of.ts"
import { isSigned, NotificationReceiver, TargetsFile } from "../support/notification-receiver.ts"
import { byScale } from "../support/scale.ts"
import { Service } from "../support/service.ts"
import { clientOf } from "../support/steered.ts"
import { until } from "../support/until.ts"

const ends = byScale({ short: 600, full: 10_000, long: 10_000 })
const atOnce = 16
const mostRssMb = 130

setDefaultTimeout(byScale({ short: 120_000, full: 600_000, long: 600_000 }))

const Started = z.object({ execution_id: z.string() })

/** Starts so many, some at a time; the service says yes to each before it has ended. */
async function startMany(service: Service, count: number): Promise<string[]> {
  const url = await service.url("/executions")
  const headers = { "Content-Type": "application/json" }
  const ids: string[] = []
  let next = 0
  const work = async () => {
    while (next < count) {
      const labels = { name: `burst-${next}` }
      next += 1
      const body = JSON.stringify({ argv: ["true"], labels })
      const response = await fetch(url, { method: "POST", headers, body })
      expect(response.status).toBe(201)
      ids.push(Started.parse(await response.json()).execution_id)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return ids
}

test(`${ends} ends in a burst are told, whatever one of the targets does`, async () => {
  using well = new NotificationReceiver()
  using down = new NotificationReceiver()
  const slow = new NotificationReceiver(async () => {
    await Bun.sleep(20)
    return new Response("at last")
  })
  using _slow = slow
  using targets = new TargetsFile({
    well: TargetsFile.hook(well.url),
    down: TargetsFile.hook(down.url),
    slow: TargetsFile.hook(slow.url, { events: "[failed]" }),
  })
  await down.goDown()
  await using service = await Service.start({
    flags: { ...targets.flags, "log-level": "warn", "max-queue": "20000" },
  })
  await using client = await clientOf(service)
  const startedMs = performance.now()
  const ids = await startMany(service, ends)
  await until("all are told", () => well.all.length >= ends, 500_000)
  const tookS = (performance.now() - startedMs) / 1000
  const { targets: before } = await client.call("notify.list", { limit: 1 })
  const peaks = [service.pid, service.gatewayPid].map((pid) => memoryOf(pid).peakMb)
  down.comeBack()
  const backMs = performance.now()
  await until("the other one, too", () => down.all.length >= ends, 300_000)
  const caughtUpS = (performance.now() - backMs) / 1000
  const after = [service.pid, service.gatewayPid].map((pid) => memoryOf(pid).peakMb)

  console.log(
    `${ends} ends told in ${tookS.toFixed(1)} s; after the pause in ${caughtUpS.toFixed(1)} s`,
  )
  console.log(`peak RSS, keeper and gateway: ${rounded(peaks)}, then ${rounded(after)} MB`)
  for (const receiver of [well, down]) {
    const told = receiver.all.map(({ body }) => body["execution_id"])
    expect(new Set(told)).toEqual(new Set(ids))
    expect(receiver.all.every(isSigned)).toBe(true)
    // At least once; and nothing went wrong here that would make it more.
    expect(new Set(receiver.all.map(({ body }) => body.id)).size).toBe(ends)
  }
  expect(before.find(({ name }) => name === "down")?.pending).toBe(ends)
  for (const peak of after) expect(peak).toBeLessThan(mostRssMb)
})

function rounded(values: number[]): string {
  return values.map((value) => value.toFixed(0)).join(" and ")
}
