import { linePlot } from "../../src/lib/report/svg-plot.ts"
import { type Figure, type Measured, timesFloor } from "./figure.ts"
import { MeasuredService } from "./measured-service.ts"
import { SocketClient } from "./socket-client.ts"

const levels = [1, 10, 50, 200]
const executionsPerLevel = 200
const lineCount = 300_000
const outputMb = 1.99
// Each waits for a word, so that all of a level run before the first one writes.
const program = `read -r go; exec seq 1 ${lineCount}`

const about = `Server CPU per execution, ${executionsPerLevel} executions at each level, all that
  run at once running before the first of them writes. Flat is linear growth; less than at one is
  work that is shared.`

/**
 * CPU of keeper and gateway per execution, by how many run at once: flat is linear growth. Every
 * level runs as many executions as the others, so each is long enough for a clock of 10 ms.
 */
export async function measureScaling(executable: string): Promise<Measured> {
  const flags = ["--max-executions", String(Math.max(...levels))]
  await using service = await MeasuredService.start(executable, flags)
  await cpuMsPerExecution(service, 10, 50) // what is compiled at first use is no growth

  const points: [number, number][] = []
  for (const level of levels) {
    points.push([level, await cpuMsPerExecution(service, level, executionsPerLevel)])
  }

  const alone = points[0]?.[1] ?? Number.NaN
  const figures = points.map(([level, value]): Figure => {
    const what = `CPU per execution of ${outputMb} MB, ${level} at once`
    if (level === 1) return { what: `${what} (the floor of the next)`, value, unit: "ms" }
    return { what, value, unit: "ms", floor: alone, aim: timesFloor("at most", 1.2) }
  })
  return { about, figures, plots: [scalingPlot(points)] }
}

async function cpuMsPerExecution(
  service: MeasuredService,
  concurrency: number,
  executions: number,
): Promise<number> {
  using client = await SocketClient.open(service.url)
  const cpuBefore = service.cpuSeconds()
  const ids: string[] = []
  while (ids.length < executions) ids.push(...(await together(client, concurrency)))
  const cpuMs = (service.cpuSeconds() - cpuBefore) * 1000
  for (const execution_id of ids) await client.call("remove", { execution_id })
  return cpuMs / ids.length
}

async function together(client: SocketClient, concurrency: number): Promise<string[]> {
  const params = { argv: ["sh", "-c", program], stdin: "pipe", encoding: "binary" }
  const ids = await Promise.all(Array.from({ length: concurrency }, () => client.execute(params)))
  const completed = ids.map((id) => client.completed(id))
  const input = { data: "go\n", end: true }
  await Promise.all(ids.map((execution_id) => client.call("input", { execution_id, ...input })))
  await Promise.all(completed)
  return ids
}

function scalingPlot(points: [number, number][]) {
  const title = `Server CPU per execution that writes ${outputMb} MB`
  const svg = linePlot({
    title,
    xLabel: "executions running at once",
    yLabel: "ms",
    series: [
      { name: "keeper and gateway", points },
      { name: "linear growth", points: points.map(([x]) => [x, points[0]?.[1] ?? Number.NaN]) },
    ],
  })
  return { file: "scaling.svg", title, svg }
}
