import { linePlot } from "../../src/lib/report/svg-plot.ts"
import { below, type Figure, type Measured, type Plot } from "./figure.ts"
import { MeasuredService } from "./measured-service.ts"
import { SocketClient } from "./socket-client.ts"

const floodMs = 8000
const sampleMs = 250
const about = `The most that was seen in ${floodMs / 1000} seconds. The executable itself is mapped
  by both processes and counts in each one's RSS; PSS divides what is shared, also with other
  services of the same file if any run.`

type Sample = { seconds: number; keeper: number; gateway: number; both: number }

/** Memory of both processes: idle, under a flood that is read, under one whose reader stalls. */
export async function measureMemory(executable: string): Promise<Measured> {
  await using service = await MeasuredService.start(executable)
  const samples: Sample[] = []
  const figures = await watched("idle", service, 1000, samples)

  {
    using client = await SocketClient.open(service.url)
    await client.call("execute", { argv: ["yes"], budget: { bytes: 67_108_864 } })
    figures.push(...(await watched("`yes`, fast client", service, floodMs, samples)))
    await client.call("control", { type: "CANCEL" })
  }
  {
    const stalled = await stalledClient(service.url)
    figures.push(...(await watched("`yes`, stalled client", service, floodMs, samples)))
    stalled.kill("SIGKILL")
    await stalled.exited
  }
  return { about, figures, plots: [memoryPlot(samples)] }
}

/** A client in another process, stopped in the middle: its socket fills and stays full. */
async function stalledClient(url: string): Promise<Bun.Subprocess> {
  const program = `
    const socket = new WebSocket(${JSON.stringify(url)})
    const params = { argv: ["yes"], budget: { bytes: 67108864 }, on_disconnect: "cancel" }
    socket.onopen = () =>
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "execute", params }))
    socket.onmessage = ({ data }) => {
      if (data.includes("process.output")) process.kill(process.pid, "SIGSTOP")
    }`
  return Bun.spawn([process.execPath, "-e", program], { stdin: "ignore" })
}

/** The most that was seen in so long a time. */
async function watched(
  when: string,
  service: MeasuredService,
  ms: number,
  samples: Sample[],
): Promise<Figure[]> {
  const before = samples.length
  const endMs = performance.now() + ms
  while (performance.now() < endMs) {
    const { keeper, gateway } = service.memory()
    samples.push({
      seconds: performance.now() / 1000,
      keeper: keeper.rssMb,
      gateway: gateway.rssMb,
      both: keeper.pssMb + gateway.pssMb,
    })
    await Bun.sleep(sampleMs)
  }
  const most = (name: "keeper" | "gateway" | "both") =>
    Math.max(...samples.slice(before).map((sample) => sample[name]))
  return [
    { what: `keeper RSS, ${when}`, value: most("keeper"), unit: "MB", aim: below(100) },
    { what: `gateway RSS, ${when}`, value: most("gateway"), unit: "MB", aim: below(100) },
    { what: `PSS of both, ${when}`, value: most("both"), unit: "MB", aim: below(120) },
  ]
}

function memoryPlot(samples: readonly Sample[]): Plot {
  const title = "Memory: idle, `yes` to a fast client, `yes` to a stalled client"
  const startedAt = samples[0]?.seconds ?? 0
  const points = (name: "keeper" | "gateway" | "both") =>
    samples.map((sample): [number, number] => [sample.seconds - startedAt, sample[name]])
  const svg = linePlot({
    title,
    xLabel: "seconds",
    yLabel: "MB",
    series: [
      { name: "keeper RSS", points: points("keeper") },
      { name: "gateway RSS", points: points("gateway") },
      { name: "PSS of both", points: points("both") },
    ],
    limit: { name: "bound of each RSS", y: 100 },
  })
  return { file: "memory.svg", title, svg }
}
