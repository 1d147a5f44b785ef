import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { Bystanders } from "../support/bystanders.ts"
import { memoryOf } from "../support/memory-of.ts"
import { descendantsOf } from "../support/real-processes.ts"
import { byScale, seed } from "../support/scale.ts"
import type { Service } from "../support/service.ts"
import { until } from "../support/until.ts"
import { Assault } from "./support/assault.ts"
import { Conversation } from "./support/conversation.ts"
import { everyExecution } from "./support/every-execution.ts"
import { type Evidence, reported } from "./support/evidence.ts"
import { healthOf } from "./support/health-of.ts"
import { openFilesOf } from "./support/open-files.ts"

const assaultMs = byScale({ short: 6000, full: 12_000, long: 180_000 })
const mostMb = 100

describe("a service that is sent whatever nobody should send", () => {
  test(
    "refuses, answers everybody else, and is afterwards as it was",
    reported("hostile bytes on the sockets", async (evidence) => {
      evidence.note(`seed ${seed}`)
      await using bystanders = await Bystanders.start()
      const { service, session } = bystanders
      using _watch = evidence.watch(service)
      const url = await service.url()
      const untouched = [bystanders.ended, bystanders.running]
      const before = await lookAt(bystanders, untouched)
      expect(await isAlone(service)).toBe(true)
      const wasOpen = openFiles(service)
      const pids = [service.pid, service.gatewayPid]
      const victim = await session.call("execute", { argv: ["/bin/cat"], stdin: "pipe" })

      const assault = new Assault({
        seed,
        targets: { own: victim.execution_id, readable: bystanders.ended },
        addresses: [
          { host: "127.0.0.1", port: Number(new URL(url).port) },
          { path: join(service.stateDir, "gateway.sock") },
        ],
        host: new URL(url).host,
      })
      {
        await using conversation = await Conversation.start(url, (ms) => {
          evidence.latency("round trip of a line meanwhile", ms)
        })
        await assault.run(assaultMs)
        evidence.count("lines sent and received meanwhile", await conversation.end())
        await session.call("remove", { execution_id: conversation.executionId })
      }
      for (const [kind, count] of assault.tally) evidence.count(`attacks: ${kind}`, count)

      expect({ seed, findings: assault.findings.slice(0, 5) }).toEqual({ seed, findings: [] })
      expect({ seed, said: complaintsOf(service) }).toEqual({ seed, said: [] })
      expect([service.pid, service.gatewayPid]).toEqual(pids)
      expect(await lookAt(bystanders, untouched)).toEqual(before)
      await endOf(bystanders, victim.execution_id)
      await until("everybody else is gone", () => isAlone(service))
      const known = [...untouched, victim.execution_id]
      evidence.count("executions they asked for", await expectOnlyAsked(bystanders, assault, known))
      await until("files are closed", () => openFiles(service).every(isAtMost(wasOpen)), 30_000)
      await expectSmall(service, evidence)
    }),
    assaultMs + 90_000,
  )
})

async function lookAt({ session }: Bystanders, ids: string[]): Promise<unknown[]> {
  const views = ids.map(async (execution_id) => {
    const { execution_time: _, ...view } = await session.call("status", { execution_id })
    return view
  })
  return Promise.all(views)
}

/** Whoever was meant to be hit may have been. */
async function endOf({ session }: Bystanders, execution_id: string): Promise<void> {
  const { state } = await session.call("status", { execution_id })
  if (state !== "ended") await session.call("control", { execution_id, type: "CANCEL" })
}

function openFiles(service: Service): number[] {
  return [service.pid, service.gatewayPid].map(openFilesOf)
}

function isAtMost(bounds: number[]): (count: number, index: number) => boolean {
  return (count, index) => count <= (bounds[index] ?? 0)
}

/** What it said besides where it listens, and what it logged as an error. */
function complaintsOf(service: Service): string[] {
  const said = service.said.filter((line) => !line.includes("listening on"))
  return [...said, ...service.log.filter((line) => /"level":(?:"error"|"fatal"|50|60)/.test(line))]
}

async function isAlone(service: Service): Promise<boolean> {
  return (await healthOf(service)).sessions === 1
}

/** Everything that exists was asked for as it is, once; all of it has ended, and nothing runs. */
async function expectOnlyAsked(
  { service, session }: Bystanders,
  { asked }: Assault,
  known: string[],
): Promise<number> {
  const others = await until("all of it has ended", async () => {
    const all = await everyExecution(session)
    const unknown = all.filter(({ execution_id }) => !known.includes(execution_id))
    return unknown.every(({ state }) => state === "ended") && unknown
  })
  const marks = others.map(({ argv }) => argv[1] ?? "")

  expect(others.map(({ argv }) => argv)).toEqual(marks.map((mark) => asked.get(mark) ?? []))
  expect(new Set(marks).size).toBe(marks.length)
  const running = descendantsOf(service.pid).map(({ pid }) => pid)
  const { pid } = await session.call("status", { execution_id: known[1] ?? "" })
  expect(new Set(running)).toEqual(new Set([service.gatewayPid, pid ?? 0]))
  return others.length
}

async function expectSmall(service: Service, evidence: Evidence): Promise<void> {
  for (const [name, pid] of [
    ["keeper", service.pid],
    ["gateway", service.gatewayPid],
  ] as const) {
    evidence.count(`peak RSS of the ${name}, MB`, Math.round(memoryOf(pid).peakMb))
    // Nothing is collected where nothing happens: somebody asks now and then, as ever.
    const isSmall = async () => (await isAlone(service)) && memoryOf(pid).nowMb < mostMb
    await until(`the ${name} is small again`, isSmall, 30_000)
    evidence.count(`RSS of the ${name} afterwards, MB`, Math.round(memoryOf(pid).nowMb))
  }
}
