import type { Figure } from "../bench.ts"
import { MeasuredService } from "./measured-service.ts"
import { SocketClient } from "./socket-client.ts"
import { percentile, rounded } from "./statistics.ts"

const firstByteRuns = 200
const executions = 1000
const concurrency = 8
const floods = 10
const steeringRuns = 50

export async function measureLatency(executable: string): Promise<Figure[]> {
  await using service = await MeasuredService.start(executable)
  return [
    ...(await firstByte(service)),
    ...(await executionsPerSecond(service)),
    ...(await steeringUnderFlood(service)),
  ]
}

async function firstByte(service: MeasuredService): Promise<Figure[]> {
  using client = await SocketClient.open(service.url)
  const ours: number[] = []
  const bare: number[] = []
  for (let run = 0; run < firstByteRuns; run++) {
    bare.push(await bareFirstByteMs())
    const startedMs = performance.now()
    const byte = new Promise<number>((resolve) => {
      client.onOutput = () => resolve(performance.now() - startedMs)
    })
    const completed = client.next("process.completed")
    await client.call("execute", { argv: ["echo", "hi"] })
    ours.push(await byte)
    await completed
  }
  return [0.5, 0.99].map((share) => {
    const value = rounded(percentile(ours, share))
    const floor = rounded(percentile(bare, share))
    const what = `first byte of echo, p${share * 100}`
    return { what, value, unit: "ms", floor, ratio: rounded(floor / value) }
  })
}

async function bareFirstByteMs(): Promise<number> {
  const startedMs = performance.now()
  const child = Bun.spawn(["echo", "hi"], { stdout: "pipe", stdin: "ignore" })
  await child.stdout.getReader().read()
  const ms = performance.now() - startedMs
  await child.exited
  return ms
}

async function executionsPerSecond(service: MeasuredService): Promise<Figure[]> {
  using client = await SocketClient.open(service.url)
  const ours = await rate(async () => {
    const { result } = await client.call("execute", { argv: ["true"] })
    const id = result?.["execution_id"]
    await client.next("process.completed", ({ params }) => params?.["execution_id"] === id)
  })
  const bare = await rate(async () => {
    await Bun.spawn(["true"], { stdio: ["ignore", "ignore", "ignore"] }).exited
  })
  const value = rounded(ours)
  const floor = rounded(bare)
  return [{ what: "`true` executions", value, unit: "/s", floor, ratio: rounded(value / floor) }]
}

async function rate(one: () => Promise<void>): Promise<number> {
  const startedMs = performance.now()
  let left = executions
  const worker = async () => {
    while (left > 0) {
      left -= 1
      await one()
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return executions / ((performance.now() - startedMs) / 1000)
}

/** How fast PAUSE, RESUME and CANCEL are answered while ten floods are read by one client. */
async function steeringUnderFlood(service: MeasuredService): Promise<Figure[]> {
  using reader = await SocketClient.open(service.url)
  using client = await SocketClient.open(service.url)
  const flooding: unknown[] = []
  for (let flood = 0; flood < floods; flood++) {
    const { result } = await reader.call("execute", { argv: ["yes"], encoding: "binary" })
    flooding.push(result?.["execution_id"])
  }
  const times: Record<string, number[]> = { PAUSE: [], RESUME: [], CANCEL: [] }
  for (let run = 0; run < steeringRuns; run++) {
    const { result } = await client.call("execute", { argv: ["sleep", "1000"] })
    for (const type of ["PAUSE", "RESUME", "CANCEL"]) {
      const startedMs = performance.now()
      await client.call("control", { type, execution_id: result?.["execution_id"] })
      times[type]?.push(performance.now() - startedMs)
    }
  }
  for (const execution_id of flooding) {
    await client.call("control", { type: "CANCEL", execution_id })
    await client.call("remove", { execution_id })
  }
  return Object.entries(times).flatMap(([type, values]) =>
    [0.5, 0.99].map((share) => ({
      what: `${type} under ${floods} floods, p${share * 100}`,
      value: rounded(percentile(values, share)),
      unit: "ms",
    })),
  )
}
