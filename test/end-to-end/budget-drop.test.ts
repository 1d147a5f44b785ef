import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Encoding } from "../../src/protocol/execute.ts"
import { fixture } from "../support/independent-run.ts"
import type { ReceivedOutput } from "../support/received-output.ts"
import { fewIfShort } from "../support/scale.ts"
import { Service } from "../support/service.ts"
import { StreamClient } from "../support/stream-client.ts"
import { until } from "../support/until.ts"

let service: Service
let url: string

beforeAll(async () => {
  service = await Service.start()
  url = await service.url()
})

afterAll(() => service[Symbol.asyncDispose]())

// A tiny budget slows the child down, so that files are not made and unlinked all day.
const budgets = fewIfShort(2, [
  { bytes: 200_000, lines: 7 },
  { bytes: 50_000 },
  { lines: 1000 },
  { bytes: 1_000_000 },
  { lines: 1 },
  { bytes: 70_000, lines: 5000 },
])
const last = 300_000
const whole = Buffer.from(Array.from({ length: last }, (_, index) => `${index + 1}\n`).join(""))

describe("a budget that drops the oldest output", () => {
  test("may be as small as a kilobyte", async () => {
    using client = await StreamClient.connect(url)
    const argv = ["seq", "1", "5000"]
    const { id, output } = await client.execute({ argv, budget: { bytes: 1024 } })
    const completed = await output.completed

    const { output: kept, bytes } = await follow(id, "start", "base64")

    expect(kept.gaps).toEqual({ ...completed.dropped, count: 1 })
    expect(kept.bytes + kept.gaps.bytes).toBe(completed.bytes.stdout)
    expect(kept.lines + kept.gaps.lines).toBe(5000)
    expect(bytes.toString()).toEndWith("4998\n4999\n5000\n")
  })

  test.each(budgets)("%o keeps the newest, and tells exactly what is gone", async (budget) => {
    using client = await StreamClient.connect(url)
    const { id, output } = await client.execute({ argv: ["seq", "1", `${last}`], budget })
    const completed = await output.completed

    const { output: kept, bytes } = await follow(id, "start", "utf8")

    expect(kept.faults).toEqual([])
    expect(kept.gaps).toEqual({ ...completed.dropped, count: 1 })
    expect(kept.bytes + kept.gaps.bytes).toBe(whole.length)
    expect(kept.lines + kept.gaps.lines).toBe(last)
    expect(bytes.equals(whole.subarray(-bytes.length))).toBe(true)
    expect(bytes.length).toBeLessThanOrEqual(budget.bytes ?? whole.length)
    expect(kept.lines).toBeLessThanOrEqual(budget.lines ?? last)
    expect(completed.lines.stdout).toBe(last)
    expectEverythingOnce(output)
  })

  test.each(fewIfShort(1, ["utf8", "base64", "binary"] as const))(
    "tells a client that stalls, in %s, of each gap and brings the rest",
    async (encoding) => {
      using fast = await StreamClient.connect(url)
      const argv = ["/bin/sh", "-c", "seq 1 3000000; read go; seq 1 3000000"]
      const budget = { bytes: 2_000_000 }
      const { id, output } = await fast.execute({ argv, stdin: "pipe", budget })
      using slow = await StreamClient.connect(url)
      const stalled = slow.output(id)
      stalled.onChunk = () => slow.stall()
      await slow.attach({ execution_id: id, encoding })
      await until("the first half", () => output.lines + output.gaps.lines === 3_000_000)
      await fast.call("input", { execution_id: id, data: "\n" })
      const completed = await output.completed

      stalled.onChunk = () => undefined
      slow.goOn()
      await stalled.completed

      expect(stalled.gaps.count).toBeGreaterThan(0)
      for (const one of [output, stalled]) {
        expect(one.faults).toEqual([])
        expect(one.bytes + one.gaps.bytes).toBe(completed.bytes.stdout)
        expect(one.lines + one.gaps.lines).toBe(6_000_000)
      }
    },
    60_000,
  )

  test("counts both streams, and cuts no account at a stream's border", async () => {
    using client = await StreamClient.connect(url)
    const argv = fixture("mixed-text.ts", 5, 2_000_000)
    const budget = { bytes: 30_000 }
    const { id, output } = await client.execute({ argv, budget, encoding: "base64" })
    const completed = await output.completed

    const { output: kept } = await follow(id, "start", "base64")

    for (const one of [output, kept]) {
      expect(one.faults).toEqual([])
      expect(one.bytes + one.gaps.bytes).toBe(completed.bytes.stdout + completed.bytes.stderr)
      expect(one.lines + one.gaps.lines).toBe(completed.lines.stdout + completed.lines.stderr)
    }
  })
})

describe("a cursor into output that was dropped", () => {
  test("brings a gap from there, and then what is kept", async () => {
    using client = await StreamClient.connect(url)
    const argv = ["/bin/sh", "-c", `seq 1 1000; read go; seq 1001 ${last}`]
    const budget = { bytes: 60_000 }
    const { id, output } = await client.execute({ argv, stdin: "pipe", budget })
    await until("the first thousand", () => output.lines === 1000)
    const { next: cursor, bytes: before } = output
    await client.call("input", { execution_id: id, data: "\n" })
    const completed = await output.completed

    const { output: rest, bytes } = await follow(id, cursor, "utf8")
    const page = await client.call("transcript.read", { execution_id: id, from: cursor })
    const verdict = await client.call("transcript.verify", { execution_id: id })

    expect(rest.gaps.count).toBe(1)
    expect(before + rest.gaps.bytes + rest.bytes).toBe(completed.bytes.stdout)
    expect(1000 + rest.gaps.lines + rest.lines).toBe(last)
    expect(bytes.equals(whole.subarray(-bytes.length))).toBe(true)
    expect(page.gap).toMatchObject({ from: cursor, bytes: rest.gaps.bytes })
    expect(verdict).toEqual({ verified: true, chain: `intact from ${before + rest.gaps.bytes}` })
  })
})

async function follow(
  id: string,
  from: string,
  encoding: Encoding,
): Promise<{ output: ReceivedOutput; bytes: Buffer }> {
  using client = await StreamClient.connect(url)
  const output = client.output(id)
  const chunks: Buffer[] = []
  output.onChunk = ({ bytes }) => chunks.push(Buffer.from(bytes))
  output.next = from
  await client.attach({ execution_id: id, encoding })
  await output.completed
  return { output, bytes: Buffer.concat(chunks) }
}

/** As a client that follows a flood live may see it: with gaps, but with no byte unaccounted. */
function expectEverythingOnce(output: ReceivedOutput): void {
  expect(output.faults).toEqual([])
  expect(output.bytes + output.gaps.bytes).toBe(whole.length)
  expect(output.lines + output.gaps.lines).toBe(last)
}
