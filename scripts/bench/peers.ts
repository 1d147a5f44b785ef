import { Contestant, type CostedRun } from "./contestant.ts"
import type { CountedRequest, CountedRun } from "./counted-run.ts"
import { MeasuredService } from "./measured-service.ts"
import { SocketClient } from "./socket-client.ts"
import { mean, median } from "./statistics.ts"
import { Websocketd } from "./websocketd.ts"

export const lineCounts = { websocketd: 1_000_000, project: 40_000_000 }
export const rounds = 5
/** What is known of the first generation of this project: a reference, it is not run here. */
export const firstGenerationLinesPerSecond = 16_300

export type Peer = {
  name: string
  lineCount: number
  /** Medians of the rounds, but for the CPU: its clock is coarse, so it is their mean. */
  lastLineSeconds: number
  linesPerSecond: number
  cpuSeconds: number
  cpuSecondsPerMillionLines: number
  clientCpuSeconds: number
  peakRssMb: number
  /** Where the memory is that of two processes. */
  peaks: { keeper: number; gateway: number } | null
}

type Entry = {
  name: string
  contestant: Contestant
  peakRssMb: () => number
  peaks: () => { keeper: number; gateway: number } | null
  /** After the clock and the CPU were read. */
  tidy: (run: CountedRun) => Promise<void>
  runs: CostedRun[]
}

/**
 * `seq 1 N` to the same client through websocketd and through the project, in turn. Each has a
 * server of its own for all its rounds, after one that does not count, so that its memory is its
 * own and neither pays for its first use. CPU is the server's, not the child's or the client's.
 */
export async function measurePeers(executable: string): Promise<Peer[]> {
  await using stack = new AsyncDisposableStack()
  const entries = [await throughWebsocketd(stack)]
  for (const encoding of ["utf8", "base64", "binary"] as const) {
    entries.push(await throughProject(stack, executable, encoding, lineCounts.project))
  }
  // The same N as websocketd's, for whoever doubts a comparison of rates.
  entries.push(await throughProject(stack, executable, "utf8", lineCounts.websocketd))

  for (let round = 0; round <= rounds; round++) {
    for (const { contestant, tidy, runs } of entries) {
      const run = await contestant.run()
      await tidy(run)
      if (round > 0) runs.push(run)
    }
  }
  return entries.map(summary)
}

async function throughWebsocketd(stack: AsyncDisposableStack): Promise<Entry> {
  const lineCount = lineCounts.websocketd
  const server = stack.use(await Websocketd.start(["seq", "1", String(lineCount)]))
  const request = { url: server.url, server: "websocketd", encoding: "utf8", lineCount } as const
  return {
    name: "websocketd",
    contestant: stack.use(new Contestant(server, request)),
    peakRssMb: () => server.peakRssMb(),
    peaks: () => null,
    tidy: async () => {},
    runs: [],
  }
}

async function throughProject(
  stack: AsyncDisposableStack,
  executable: string,
  encoding: CountedRequest["encoding"],
  lineCount: number,
): Promise<Entry> {
  const service = stack.use(await MeasuredService.start(executable))
  const janitor = stack.use(await SocketClient.open(service.url))
  const request = { url: service.url, server: "project", encoding, lineCount } as const
  const form = encoding === "binary" ? "binary frames" : `JSON text frames, ${encoding}`
  return {
    name: `cc-executor, ${form}`,
    contestant: stack.use(new Contestant(service, request)),
    peakRssMb: () => service.peakRssMb().keeper + service.peakRssMb().gateway,
    peaks: () => service.peakRssMb(),
    tidy: async ({ executionId }) => {
      await janitor.call("remove", { execution_id: executionId })
    },
    runs: [],
  }
}

function summary({ name, contestant, peakRssMb, peaks, runs }: Entry): Peer {
  const { lineCount } = contestant.request
  const lastLineSeconds = median(runs.map((run) => run.lastLineSeconds))
  const cpuSeconds = mean(runs.map((run) => run.cpuSeconds))
  return {
    name,
    lineCount,
    lastLineSeconds,
    linesPerSecond: lineCount / lastLineSeconds,
    cpuSeconds,
    cpuSecondsPerMillionLines: cpuSeconds / (lineCount / 1e6),
    clientCpuSeconds: mean(runs.map((run) => run.clientCpuSeconds)),
    peakRssMb: peakRssMb(),
    peaks: peaks(),
  }
}
