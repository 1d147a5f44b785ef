import { barPlot } from "../../src/lib/report/svg-plot.ts"
import { Contestant, type CostedRun } from "./contestant.ts"
import type { CountedRequest } from "./counted-run.ts"
import { type Aim, type Figure, type Measured, timesFloor } from "./figure.ts"
import { Floor } from "./floor.ts"
import { MeasuredService } from "./measured-service.ts"
import { SocketClient } from "./socket-client.ts"
import { mean, median, rounded } from "./statistics.ts"

const lineCount = 5_000_000
const outputBytes = 38_888_896
const rounds = 9

const about = `\`seq 1 ${lineCount}\` (${rounded(outputBytes / 1e6)} MB) to one client that parses
  every frame and compares every byte with what \`seq\` writes, ${rounds} rounds, in turn with the
  floor: a bare Bun script that spawns, reads and sends, without a record, a second process or a
  protocol. The clock runs from the connection to the message that tells the end. Speeds are
  medians, CPU is the mean, of the servers only. "Client busy" is how much of that time the client
  computed: where it is near 100 %, the client is the limit and not the server.`

type Encoding = CountedRequest["encoding"]

const speedAims: Record<Encoding, Aim | null> = {
  utf8: timesFloor("at least", 0.85),
  base64: null,
  binary: timesFloor("at least", 0.75),
}

/**
 * `seq` to a parsing client, ours and the floor in turn, so that both meet the same machine.
 *
 * Child and client limit what is measured: they share the processors with the server. `seq` alone
 * needs about half the floor's time, and parsing text keeps the client busy for most of it; how
 * busy is printed beside the rest. What a faster server gains shows in full in the CPU per GB, and
 * in the speed only where somebody waited for it.
 */
export async function measureThroughput(executable: string): Promise<Measured> {
  await using service = await MeasuredService.start(executable)
  await using floor = await Floor.start()
  using janitor = await SocketClient.open(service.url)

  const figures: Figure[] = []
  for (const encoding of ["utf8", "base64", "binary"] as const) {
    const floorUrl = floor.url(encoding, `seq 1 ${lineCount}`)
    const request = { encoding, lineCount }
    await using us = new Contestant(service, { url: service.url, server: "project", ...request })
    await using bare = new Contestant(floor, { url: floorUrl, server: "floor", ...request })
    const ours: CostedRun[] = []
    const floors: CostedRun[] = []
    for (let round = 0; round <= rounds; round++) {
      const floorRun = await bare.run()
      const run = await us.run()
      await janitor.call("remove", { execution_id: run.executionId })
      if (round === 0) continue // servers and clients have compiled what they run by now
      floors.push(floorRun)
      ours.push(run)
    }
    figures.push(...compared(encoding, ours, floors))
  }
  return { about, figures, plots: [speedPlot(figures)] }
}

function compared(encoding: Encoding, ours: CostedRun[], floors: CostedRun[]): Figure[] {
  const seconds = (runs: CostedRun[]) => median(runs.map((run) => run.seconds))
  const gigabytes = outputBytes / 1e9
  const perGb = (runs: CostedRun[]) => mean(runs.map((run) => run.cpuSeconds)) / gigabytes
  const busy = (runs: CostedRun[]) =>
    mean(runs.map((run) => run.clientCpuSeconds / run.seconds)) * 100
  const speedAim = speedAims[encoding]
  return [
    {
      what: `${encoding}: lines`,
      value: lineCount / seconds(ours) / 1e6,
      unit: "M/s",
      floor: lineCount / seconds(floors) / 1e6,
      ...(speedAim === null ? {} : { aim: speedAim }),
    },
    {
      what: `${encoding}: bytes`,
      value: outputBytes / seconds(ours) / 1e6,
      unit: "MB/s",
      floor: outputBytes / seconds(floors) / 1e6,
    },
    {
      what: `${encoding}: CPU of keeper and gateway`,
      value: perGb(ours),
      unit: "s/GB",
      floor: perGb(floors),
      ...(encoding === "base64" ? {} : { aim: timesFloor("at most", 2) }),
    },
    { what: `${encoding}: client busy`, value: busy(ours), unit: "%", floor: busy(floors) },
  ]
}

function speedPlot(figures: Figure[]) {
  const title = "Lines per second to a parsing client, beside the floor"
  const bars = figures
    .filter(({ unit }) => unit === "M/s")
    .flatMap(({ what, value, floor }) => [
      { name: what.replace(": lines", ""), value },
      { name: `${what.replace(": lines", "")}, floor`, value: floor ?? Number.NaN },
    ])
  return { file: "throughput.svg", title, svg: barPlot({ title, unit: "million lines/s", bars }) }
}
