import { expect, test } from "bun:test"
import { quickClient } from "../support/following.ts"
import { followToEnd } from "../support/followed-output.ts"
import { Service } from "../support/service.ts"
test("queued", async () => {
  await using s = await Service.start({ flags: { "max-executions": "1" } })
  await using client = quickClient(await s.url(), { limits: { queueBytes: 16384 } })
  const first = await client.execute({ argv: ["sh", "-c", "read x"], stdin: "pipe" })
  const budget = { bytes: 65536, policy: "block" } as const
  const second = await client.execute({ argv: ["seq", "1", "400000"], budget, encoding: "binary" })
  expect(second.pid).toBeNull()
  await first.end()
  const r = await followToEnd(second)
  expect(r.kinds).toEqual(["started", "completed"])
  expect(r.hashes.stdout).toBe(r.completed.hashes?.stdout ?? "")
}, 20000)
test("throughput", async () => {
  await using s = await Service.start()
  for (const bytes of [65536, 1_000_000, 1_073_741_824]) for (const policy of ["block", "drop-oldest"] as const) {
    if (policy === "drop-oldest" && bytes < 1e9) continue
    await using client = quickClient(await s.url())
    const t = performance.now()
    const e = await client.execute({ argv: ["sh", "-c", "head -c 300000000 /dev/zero"], budget: { bytes, policy }, encoding: "binary" })
    const r = await followToEnd(e)
    const ms = performance.now() - t
    console.log(bytes, policy, Math.round(300_000 / ms), "MB/s", r.kinds)
  }
}, 60000)
