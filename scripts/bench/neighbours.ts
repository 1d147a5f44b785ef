import { join } from "node:path"
import { z } from "zod"
import type { Figure, Measured } from "./figure.ts"
import { timesFloor } from "./figure.ts"
import { MeasuredService } from "./measured-service.ts"
import { SocketClient } from "./socket-client.ts"
import { percentile } from "./statistics.ts"

const warmUps = 40
const runs = 160
/** By default a principal may start ten a second in the long run. */
const pauseMs = 110
const headStartMs = 1500
const modes = [
  "execute over a WebSocket",
  "list over a WebSocket",
  "noise over a WebSocket",
  "execute over HTTP",
  "list over HTTP",
  "wrong tokens over HTTP",
  "connections",
]
const about = `One client with a token of its own asks for all it can, fifty at a time over HTTP,
  without a bound over a WebSocket; another one, with another token, runs \`echo\` ${runs} times,
  a few times a second. The floor is the same client's \`echo\` on the quiet service, in the same
  run.`

const Told = z.object({ asked: z.number(), refused: z.number(), closed: z.number() })

/** What one client's greed costs another one. */
export async function measureNeighbours(executable: string): Promise<Measured> {
  await using service = await MeasuredService.start(executable)
  const calm = await service.token("calm")
  const greedy = await service.token("greedy")
  await echoMs(service, calm, warmUps)
  const quiet = await echoMs(service, calm, runs)

  const figures: Figure[] = []
  for (const mode of modes) {
    const program = join(import.meta.dir, "hammering-client.ts")
    const hammer = Bun.spawn([process.execPath, program, mode, service.url, greedy], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    })
    await Bun.sleep(headStartMs)
    const hammered = await echoMs(service, calm, runs)
    hammer.kill("SIGTERM")
    const told = Told.parse(JSON.parse(await hammer.stdout.text()))
    figures.push(...figuresOf(mode, hammered, quiet))
    figures.push({ what: `${mode}: refused meanwhile`, value: told.refused, unit: "" })
  }
  return { about, figures, plots: [] }
}

async function echoMs(service: MeasuredService, token: string, times: number): Promise<number[]> {
  using client = await SocketClient.open(service.url, token)
  const ms: number[] = []
  for (let run = 0; run < times; run++) {
    const startedMs = performance.now()
    const completed = client.completed()
    await client.execute({ argv: ["echo", "hi"] })
    await completed
    ms.push(performance.now() - startedMs)
    await Bun.sleep(pauseMs)
  }
  return ms
}

function figuresOf(mode: string, hammered: number[], quiet: number[]): Figure[] {
  return [0.5, 0.99].map((share) => ({
    what: `echo beside ${mode}, p${share * 100}`,
    value: percentile(hammered, share),
    unit: "ms",
    floor: percentile(quiet, share),
    ...(share === 0.99 ? { aim: timesFloor("at most", 3) } : {}),
  }))
}
