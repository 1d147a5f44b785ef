import { join } from "node:path"
import type { Figure } from "../bench.ts"
import { cpuSecondsOf, firstMatch, MeasuredService } from "./measured-service.ts"
import { SocketClient } from "./socket-client.ts"
import { median, rounded } from "./statistics.ts"

const lineCount = 5_000_000
const command = `seq 1 ${lineCount}`
const outputBytes = 38_888_896
const rounds = 5

type Run = { seconds: number; cpuSeconds: number }

/** `seq` to a parsing client, ours and the floor in turn, so that both meet the same machine. */
export async function measureThroughput(executable: string): Promise<Figure[]> {
  await using service = await MeasuredService.start(executable)
  const floor = Bun.spawn([process.execPath, join(import.meta.dir, "floor-server.ts")], {
    stdout: "pipe",
    stderr: "inherit",
  })
  const floorPort = await firstMatch(floor.stdout, /^(\d+)\n/)
  const floorCpu = () => cpuSecondsOf(floor.pid)
  const serviceCpu = () => {
    const { keeper, gateway } = service.cpuSeconds()
    return keeper + gateway
  }

  const figures: Figure[] = []
  for (const encoding of ["utf8", "base64", "binary"] as const) {
    const ours: Run[] = []
    const floors: Run[] = []
    for (let round = 0; round < rounds; round++) {
      const query = new URLSearchParams({ command, encoding })
      floors.push(await timed(`ws://127.0.0.1:${floorPort}/?${query.toString()}`, null, floorCpu))
      ours.push(await timed(service.url, { command, encoding }, serviceCpu))
    }
    figures.push(...compared(encoding, ours, floors))
  }
  floor.kill()
  await floor.exited
  return figures
}

async function timed(
  url: string,
  params: { command: string; encoding: string } | null,
  cpuSeconds: () => number,
): Promise<Run> {
  const cpuBefore = cpuSeconds()
  const startedMs = performance.now()
  using client = await SocketClient.open(url)
  const completed = client.next("process.completed")
  if (params !== null) await client.call("execute", params)
  await completed
  const seconds = (performance.now() - startedMs) / 1000
  return { seconds, cpuSeconds: cpuSeconds() - cpuBefore }
}

function compared(encoding: string, ours: Run[], floors: Run[]): Figure[] {
  const seconds = median(ours.map((run) => run.seconds))
  const floorSeconds = median(floors.map((run) => run.seconds))
  const perGb = (runs: Run[]) => (median(runs.map((run) => run.cpuSeconds)) / outputBytes) * 1e9
  const ratio = rounded(floorSeconds / seconds)
  const floorName = encoding === "base64" ? {} : { ratio }
  return [
    {
      what: `${encoding}: lines`,
      value: rounded(lineCount / seconds / 1e6),
      unit: "M/s",
      floor: rounded(lineCount / floorSeconds / 1e6),
      ...floorName,
    },
    {
      what: `${encoding}: bytes`,
      value: rounded(outputBytes / seconds / 1e6),
      unit: "MB/s",
      floor: rounded(outputBytes / floorSeconds / 1e6),
      ...floorName,
    },
    {
      what: `${encoding}: CPU of both processes`,
      value: rounded(perGb(ours)),
      unit: "s/GB",
      floor: rounded(perGb(floors)),
      ratio: rounded(perGb(floors) / perGb(ours)),
    },
  ]
}
