import { type Measured, timesFloor } from "./figure.ts"
import { MeasuredService } from "./measured-service.ts"
import { SocketClient } from "./socket-client.ts"
import { median, percentile } from "./statistics.ts"
import { aboutSteering, measureSteering } from "./steering.ts"

const firstByteRuns = 300
const executions = 1000
const concurrency = 8
const rateRounds = 3
const about = `The floor is a bare \`Bun.spawn\` in the measuring process. \`true\` runs
  ${concurrency} at a time. ${aboutSteering}`

/**
 * The bare figures are of this process, which also plays the client: with two processors and eight
 * executions at a time, the client's own work is part of what our rate pays and theirs does not.
 */
export async function measureLatency(executable: string): Promise<Measured> {
  await using service = await MeasuredService.start(executable)
  const figures = [
    ...(await firstByte(service)),
    await executionsPerSecond(service),
    ...(await measureSteering(service)),
  ]
  return { about, figures, plots: [] }
}

async function firstByte(service: MeasuredService) {
  using client = await SocketClient.open(service.url)
  const ours: number[] = []
  const bare: number[] = []
  for (let run = 0; run < firstByteRuns; run++) {
    bare.push(await bareFirstByteMs())
    const startedMs = performance.now()
    const byte = new Promise<number>((resolve) => {
      client.onOutput = () => resolve(performance.now() - startedMs)
    })
    const completed = client.completed()
    await client.execute({ argv: ["echo", "hi"] })
    ours.push(await byte)
    await completed
  }
  return [0.5, 0.99].map((share) => ({
    what: `first byte of echo, p${share * 100}`,
    value: percentile(ours, share),
    unit: "ms",
    floor: percentile(bare, share),
    ...(share === 0.5 ? { aim: timesFloor("at most", 2) } : {}),
  }))
}

async function bareFirstByteMs(): Promise<number> {
  const startedMs = performance.now()
  const child = Bun.spawn(["echo", "hi"], { stdout: "pipe", stdin: "ignore" })
  await child.stdout.getReader().read()
  const ms = performance.now() - startedMs
  await child.exited
  return ms
}

async function executionsPerSecond(service: MeasuredService) {
  using client = await SocketClient.open(service.url)
  const ours: number[] = []
  const bare: number[] = []
  for (let round = 0; round < rateRounds; round++) {
    bare.push(
      await rate(async () => {
        await Bun.spawn(["true"], { stdio: ["ignore", "ignore", "ignore"] }).exited
      }),
    )
    ours.push(
      await rate(async () => {
        await client.completed(await client.execute({ argv: ["true"] }))
      }),
    )
  }
  return {
    what: "`true` executions",
    value: median(ours),
    unit: "/s",
    floor: median(bare),
    aim: timesFloor("at least", 0.5),
  }
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
