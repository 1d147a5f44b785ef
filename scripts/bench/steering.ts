import { join } from "node:path"
import { z } from "zod"
import { below, type Figure } from "./figure.ts"
import { firstMatch } from "./first-match.ts"
import { Floor } from "./floor.ts"
import type { MeasuredService } from "./measured-service.ts"
import { SocketClient } from "./socket-client.ts"
import { percentile } from "./statistics.ts"

const floods = 10
const warmUps = 10
const runs = 200
const gestures = ["PAUSE", "RESUME", "CANCEL"] as const
export const aboutSteering = `Steering is ${runs} times execute, PAUSE, RESUME, CANCEL of a
  \`sleep\`, while ${floods} \`yes\` are recorded and read by another process; CANCEL is answered
  when the tree is gone. The floor is an answer of the bare script, which has nothing else to do, on
  the same busy machine: it shows what waiting for a processor is worth.`

const Ids = z.array(z.string())
const Counted = z.object({ bytes: z.object({ stdout: z.number() }) })

/**
 * How fast PAUSE, RESUME and CANCEL are answered while ten floods are read. Another process reads
 * them: in this one, an answer would wait behind the parsing of the floods.
 */
export async function measureSteering(service: MeasuredService): Promise<Figure[]> {
  await using floor = await Floor.start()
  using client = await SocketClient.open(service.url)
  using bare = await SocketClient.open(floor.url("idle"))
  const program = join(import.meta.dir, "flood-reader.ts")
  const reader = Bun.spawn([process.execPath, program, service.url, String(floods)], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  })
  const flooding = Ids.parse(JSON.parse(await firstMatch(reader.stdout, /^(\[.*\])\n/)))

  const before = await recorded(client, flooding)
  const times = new Map<string, number[]>(gestures.map((type) => [type, []]))
  const floors: number[] = []
  for (let run = -warmUps; run < runs; run++) {
    const execution_id = await client.execute({ argv: ["sleep", "1000"] })
    for (const type of gestures) {
      const ms = await answerMs(client, "control", { type, execution_id })
      if (run >= 0) times.get(type)?.push(ms)
    }
    floors.push(await answerMs(bare, "nothing", {}))
  }
  const after = await recorded(client, flooding)

  for (const execution_id of flooding) {
    await client.call("control", { type: "CANCEL", execution_id })
  }
  reader.kill()
  await reader.exited
  const megabytesPerSecond = (after.bytes - before.bytes) / 1e3 / (after.atMs - before.atMs)
  return [
    ...gestures.flatMap((type) => figuresOf(type, times.get(type) ?? [], floors)),
    { what: `${floods} floods meanwhile`, value: megabytesPerSecond, unit: "MB/s" },
  ]
}

async function answerMs(client: SocketClient, method: string, params: unknown): Promise<number> {
  const startedMs = performance.now()
  await client.call(method, params)
  return performance.now() - startedMs
}

function figuresOf(type: string, times: number[], floors: number[]): Figure[] {
  return [0.5, 0.99, 1].map((share) => ({
    what: `${type} under ${floods} floods, ${share === 1 ? "max" : `p${share * 100}`}`,
    value: percentile(times, share),
    unit: "ms",
    floor: percentile(floors, share),
    ...(share === 0.99 ? { aim: below(20) } : {}),
  }))
}

async function recorded(client: SocketClient, ids: readonly string[]) {
  let bytes = 0
  for (const execution_id of ids) {
    bytes += Counted.parse(await client.call("status", { execution_id })).bytes.stdout
  }
  return { bytes, atMs: performance.now() }
}
