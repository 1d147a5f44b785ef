import { describe, expect } from "bun:test"
import { join } from "node:path"
import { Authority } from "../support/certificates.ts"
import { memoryOf } from "../support/memory-of.ts"
import { RawSession } from "../support/raw-session.ts"
import { byScale } from "../support/scale.ts"
import { Service } from "../support/service.ts"
import { notRoot, testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"
import { reported } from "./support/evidence.ts"
import { openFilesOf } from "./support/open-files.ts"

const idle = 5000
const half = 1000
const echoes = byScale({ short: 60, full: 300, long: 3000 })
/**
 * What one may have of waiting connections, of sessions, and of all the rest. Over TLS also of
 * those, each with both ends of the connection to the plain server.
 */
const mostFiles = { plain: 256 + 100 + 100, tls: 3 * 1024 + 100 + 100 }
const mostMb = 300

describe("a port where one address holds thousands of connections", () => {
  for (const door of ["plain", "tls"] as const) {
    testUnless(
      door === "tls" ? notRoot : null, // the crowd is another user there
      `answers everybody else as fast as an empty one, from the first of them on (${door})`,
      reported(`5,000 idle connections, 1,000 half-sent messages, ${door}`, async (evidence) => {
        using authority = new Authority()
        const flags = door === "tls" ? tlsFlags(authority) : {}
        const trust = door === "tls" ? { tls: authority.trust() } : {}
        await using quiet = await Service.start({ flags })
        await using crowded = await Service.start({ flags })
        using _watch = evidence.watch(crowded)
        const port = new URL(await crowded.url("/")).port
        const program = [process.execPath, join(import.meta.dir, "../fixtures/crowd.ts")]
        for (const service of [quiet, crowded]) await echo(service, trust)

        await using crowd = Bun.spawn([...program, port, String(idle), String(half), door], {
          stdout: "pipe",
          env: { ...process.env, BUN_BE_BUN: "1" },
        })
        const said = linesOf(crowd.stdout)
        await said.next() // it begins now
        let isOpen = false
        const opened = () => (isOpen = true)
        void said.next().then(opened)
        const quietMs: number[] = []
        const crowdedMs: number[] = []
        // While it comes, and as often again while those who were closed come again.
        for (let more = echoes; more > 0; more -= isOpen ? 1 : 0) {
          quietMs.push(await echo(quiet, trust))
          crowdedMs.push(await echo(crowded, trust))
        }

        for (const ms of quietMs) evidence.latency("echo, empty port", ms)
        for (const ms of crowdedMs) evidence.latency("echo, crowded port", ms)
        const { peakMb } = memoryOf(crowded.gatewayPid)
        evidence.count("peak RSS of the gateway, MB", Math.round(peakMb))
        console.log(`${door}: empty ${summary(quietMs)}, crowded ${summary(crowdedMs)}`)
        expect(crowd.exitCode).toBeNull()
        expect(median(crowdedMs)).toBeLessThan(3 * median(quietMs))
        expect(peakMb).toBeLessThan(mostMb)
        await until("the rest was closed", () => openFilesOf(crowded.gatewayPid) < mostFiles[door])
      }),
      120_000,
    )
  }
})

function tlsFlags(authority: Authority): Record<string, string> {
  const { cert, key } = authority.issue({ subject: "/CN=localhost" })
  return { host: "127.0.0.1", "tls-cert": cert, "tls-key": key }
}

/**
 * A new connection, `echo`, and its output: how long that takes. Who is closed as one of the crowd,
 * whose address it shares, comes again, and that counts.
 */
async function echo(service: Service, trust: { tls?: Bun.TLSOptions }): Promise<number> {
  const url = await service.url()
  const startedMs = performance.now()
  using session = await until("a session can be had", () =>
    RawSession.open(url, trust).catch(() => null),
  )
  await session.run({ argv: ["/bin/echo", "hello"] })
  return performance.now() - startedMs
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  for await (const piece of stream) {
    yield* new TextDecoder().decode(piece).split("\n").filter(Boolean)
  }
}

function summary(values: number[]): string {
  const [middle, worst] = [median(values), Math.max(...values)].map(Math.round)
  return `${values.length} echoes, median ${middle} ms, worst ${worst} ms`
}

function median(values: number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
}
