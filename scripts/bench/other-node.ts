import { compileNode } from "../../test/support/compiled-node.ts"
import { ListedNodes } from "../../test/support/listed-nodes.ts"
import { type Figure, type Measured, timesFloor } from "./figure.ts"
import { cpuSecondsOf, peakRssMbOf } from "./process-cost.ts"
import { SocketClient } from "./socket-client.ts"
import { median } from "./statistics.ts"

const rounds = 7
const lineCount = 10_000_000
const replayedBytes = 400_000_000

const about = `Two nodes on this machine, without an engine; an execution of node b followed by
  one client at b, and by one at a, in turn, ${rounds} rounds: \`seq 1 ${lineCount}\` while it runs,
  and 400 MB that were written before. Frames are binary. The floor is the client at b.`

type Run = { megabytesPerSecond: number; cpuSeconds: number }

/** What it costs to attach through another node. */
export async function measureOtherNode(): Promise<Measured> {
  using compiled = await compileNode()
  await using nodes = await ListedNodes.start(["a", "b"], {}, compiled.path)
  using near = await SocketClient.open(await nodes.node("a").service.url())
  using direct = await SocketClient.open(await nodes.node("b").service.url())
  const gateways = ["a", "b"].map((name) => nodes.node(name).service.gatewayPid)
  const live = await inTurn(gateways, (at) => followLive(at), direct, near)
  const id = await recorded(direct)
  const replay = await inTurn(gateways, (at) => replayAll(at, id), direct, near)
  const [ofA = 0, ofB = 0] = gateways.map(peakRssMbOf)
  const figures: Figure[] = [
    speed("while it runs", live, 0.7),
    speed("written before", replay, null),
    cpu("written before", replay),
    { what: "memory of the gateway of a, at most", value: ofA, unit: "MB" },
    { what: "memory of the gateway of b, at most", value: ofB, unit: "MB" },
  ]
  return { about, figures, plots: [] }
}

type InTurn = { direct: Run[]; through: Run[] }

async function inTurn(
  gateways: number[],
  follow: (at: SocketClient) => Promise<number>,
  direct: SocketClient,
  near: SocketClient,
): Promise<InTurn> {
  const runs: InTurn = { direct: [], through: [] }
  for (let round = 0; round <= rounds; round++) {
    const beside = await measured(gateways, () => follow(direct))
    const through = await measured(gateways, () => follow(near))
    if (round === 0) continue // everything is compiled by now
    runs.direct.push(beside)
    runs.through.push(through)
  }
  return runs
}

async function measured(gateways: number[], run: () => Promise<number>): Promise<Run> {
  const spent = () => gateways.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0)
  const before = spent()
  const startedMs = performance.now()
  const bytes = await run()
  const seconds = (performance.now() - startedMs) / 1000
  return { megabytesPerSecond: bytes / 1e6 / seconds, cpuSeconds: spent() - before }
}

async function followLive(client: SocketClient): Promise<number> {
  const counted = counting(client)
  const ended = client.completed()
  const argv = ["seq", "1", String(lineCount)]
  const id = await client.execute({ argv, encoding: "binary", labels: { on: "b" } })
  await ended
  await client.call("remove", { execution_id: id })
  return counted.bytes
}

async function recorded(client: SocketClient): Promise<string> {
  const ended = client.completed()
  const command = `yes 0123456789abcdef | head -c ${replayedBytes}`
  const labels = { share: "*" }
  const budget = { bytes: 2 ** 31 }
  const id = await client.execute({ command, encoding: "binary", budget, labels })
  await ended
  return id
}

async function replayAll(client: SocketClient, execution_id: string): Promise<number> {
  const counted = counting(client)
  const ended = client.completed(execution_id)
  await client.call("attach", { execution_id, from: "start", encoding: "binary" })
  await ended
  if (counted.bytes !== replayedBytes) throw new Error(`of ${replayedBytes} came ${counted.bytes}`)
  return counted.bytes
}

function counting(client: SocketClient): { bytes: number } {
  const counted = { bytes: 0 }
  client.onOutput = (piece) => void (counted.bytes += piece.length)
  return counted
}

function speed(what: string, { direct, through }: InTurn, aim: number | null): Figure {
  const ofRuns = (runs: Run[]) => median(runs.map(({ megabytesPerSecond }) => megabytesPerSecond))
  const figure = { what: `${what}: bytes`, value: ofRuns(through), unit: "MB/s" }
  const floor = ofRuns(direct)
  return { ...figure, floor, ...(aim === null ? {} : { aim: timesFloor("at least", aim) }) }
}

function cpu(what: string, { direct, through }: InTurn): Figure {
  const perGb = (runs: Run[]) =>
    median(runs.map(({ cpuSeconds }) => cpuSeconds)) / (replayedBytes / 1e9)
  const floor = perGb(direct)
  return { what: `${what}: CPU of both gateways`, value: perGb(through), unit: "s/GB", floor }
}
