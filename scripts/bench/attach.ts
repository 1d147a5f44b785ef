import { barPlot } from "../../src/lib/report/svg-plot.ts"
import { type Measured, timesFloor } from "./figure.ts"
import { MeasuredService } from "./measured-service.ts"
import { SocketClient } from "./socket-client.ts"
import { percentile } from "./statistics.ts"

const transcriptBytes = 1_000_000_000
const command = `yes 0123456789abcdef | head -c ${transcriptBytes}`
const budget = { bytes: 2 ** 31 }
const samples = 100
const warmUps = 10
const order = ["start", "middle", "end"] as const
const about = `One execution that wrote 1 GB and ended; ${samples} attachments at each place, in
  turn. The record is in the page cache.`

type Places = Record<(typeof order)[number], string>

/** From asking to the first byte, by where in a long transcript one attaches. */
export async function measureAttach(executable: string): Promise<Measured> {
  await using service = await MeasuredService.start(executable)
  const { executionId, places } = await recorded(service)

  const times: Record<keyof Places, number[]> = { start: [], middle: [], end: [] }
  for (let sample = -warmUps; sample < samples; sample++) {
    // Forth and back, so that no place is always the one after another.
    for (const place of sample % 2 === 0 ? order : order.toReversed()) {
      const ms = await firstByteMs(service, executionId, places[place])
      if (sample >= 0) times[place].push(ms)
    }
  }

  const p50 = (place: keyof Places) => percentile(times[place], 0.5)
  const figures = order.flatMap((place) => {
    const what = `first byte, attached at the ${place} of 1 GB`
    const beside = place === "start" ? {} : { floor: p50("start"), aim: timesFloor("at most", 1.2) }
    return [
      { what: `${what}, p50`, value: p50(place), unit: "ms", ...beside },
      { what: `${what}, p99`, value: percentile(times[place], 0.99), unit: "ms" },
    ]
  })
  const title = "Time to the first byte, by where in 1 GB one attaches"
  const bars = order.map((name) => ({ name, value: p50(name) }))
  return {
    about,
    figures,
    plots: [{ file: "attach.svg", title, svg: barPlot({ title, unit: "ms (p50)", bars }) }],
  }
}

/** An ended execution, and cursors: the end's is before the last piece, so that a byte follows. */
async function recorded(service: MeasuredService) {
  using client = await SocketClient.open(service.url)
  const places: Places = { start: "start", middle: "", end: "" }
  let received = 0
  let last = "start"
  client.onOutput = (piece, next) => {
    received += piece.length
    if (places.middle === "" && received >= transcriptBytes / 2) places.middle = next ?? ""
    places.end = last
    last = next ?? ""
  }
  const completed = client.completed()
  const executionId = await client.execute({ command, budget, encoding: "binary" })
  await completed
  if (received !== transcriptBytes) throw new Error(`of ${transcriptBytes} came ${received}`)
  return { executionId, places }
}

async function firstByteMs(
  service: MeasuredService,
  execution_id: string,
  from: string,
): Promise<number> {
  using client = await SocketClient.open(service.url)
  const byte = new Promise<number>((resolve) => {
    client.onOutput = () => resolve(performance.now())
  })
  const startedMs = performance.now()
  await client.call("attach", { execution_id, from, encoding: "binary" })
  return (await byte) - startedMs
}
