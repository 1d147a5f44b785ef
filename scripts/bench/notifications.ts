import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connect } from "../../src/client/connect.ts"
import { until } from "../../test/support/until.ts"
import { type Figure, type Measured, timesFloor } from "./figure.ts"
import { MeasuredService } from "./measured-service.ts"
import { cpuSecondsOf } from "./process-cost.ts"
import { mean, median } from "./statistics.ts"

const rounds = 7
const perRound = 150
const atOnce = 4
const about = `\`true\`, ${perRound} times, ${atOnce} at once, on three services in turn,
  ${rounds} rounds after one to warm up: one that tells nobody, which is the floor; one whose
  target, on the same two
  processors, is told of every end; and one whose target is down. The clock runs from the request to
  the message that tells the end. CPU is the keeper's.`

type Side = { service: MeasuredService; ms: number[]; cpuMs: number[] }

/** What it costs an execution that somebody is told of its end. */
export async function measureNotifications(executable: string): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "cc-executor-bench-notify-"))
  const told = { ends: 0 }
  using receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch() {
      told.ends += 1
      return new Response("taken")
    },
  })
  await using none = await MeasuredService.start(executable)
  const up = targetsFile(folder, "up", `http://127.0.0.1:${receiver.port}/`)
  await using telling = await MeasuredService.start(executable, ["--notify-file", up])
  const down = targetsFile(folder, "down", "http://127.0.0.1:1/")
  await using waiting = await MeasuredService.start(executable, ["--notify-file", down])
  const [quiet, well, dead] = [sideOf(none), sideOf(telling), sideOf(waiting)]
  for (let round = 0; round <= rounds; round += 1) {
    for (const side of [quiet, well, dead]) await runRound(side, round > 0)
  }
  const ends = (rounds + 1) * perRound
  await until("the target is told of every end", () => told.ends >= ends)
  rmSync(folder, { recursive: true })
  return {
    about,
    figures: [
      ...figuresOf("a target", well, quiet),
      ...figuresOf("a target that is down", dead, quiet),
      { what: "ends that the target was told of", value: told.ends, unit: "" },
    ],
    plots: [],
  }
}

function sideOf(service: MeasuredService): Side {
  return { service, ms: [], cpuMs: [] }
}

function figuresOf(what: string, side: Side, floor: Side): Figure[] {
  return [
    {
      what: `an execution with ${what}, p50`,
      value: median(side.ms),
      unit: "ms",
      floor: median(floor.ms),
      aim: timesFloor("at most", 1.15),
    },
    {
      what: `keeper CPU per execution with ${what}`,
      value: mean(side.cpuMs),
      unit: "ms",
      floor: mean(floor.cpuMs),
      aim: timesFloor("at most", 1.25),
    },
  ]
}

async function runRound({ service, ms, cpuMs }: Side, isMeasured: boolean): Promise<void> {
  await using client = connect({ url: service.url })
  const cpuBefore = cpuSecondsOf(service.keeperPid)
  let next = 0
  const work = async () => {
    while (next < perRound) {
      next += 1
      const startedMs = performance.now()
      const execution = await client.execute({ argv: ["true"] })
      await execution.ended
      if (isMeasured) ms.push(performance.now() - startedMs)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  if (isMeasured) cpuMs.push(((cpuSecondsOf(service.keeperPid) - cpuBefore) * 1000) / perRound)
}

function targetsFile(folder: string, name: string, url: string): string {
  const secret = join(folder, "secret")
  writeFileSync(secret, "a-dummy-secret-for-webhooks")
  const path = join(folder, `${name}.yaml`)
  const keys = ["kind: webhook", `url: ${url}`, `secret_file: ${secret}`, "sent: always"]
  writeFileSync(path, ["targets:", "  one:", ...keys.map((key) => `    ${key}`), ""].join("\n"))
  return path
}
