import { existsSync, readdirSync, readlinkSync } from "node:fs"
import { join, relative } from "node:path"
import { isErrno } from "../../../src/lib/errno.ts"
import { allPids, commandLine, readStat } from "../../../src/service/os/proc.ts"
import { readTreeMemory } from "../../../src/service/os/trees/tree-memory.ts"
import { openForReading } from "../../../src/service/storage/journal/connection.ts"
import { statePathsIn } from "../../../src/service/storage/state-paths.ts"
import type { Service } from "../../support/service.ts"
import { until } from "../../support/until.ts"
import { healthOf } from "./health-of.ts"

/** Everything that a service has of the machine, by what it is: how many of it there are. */
export type Footprint = ReadonlyMap<string, number>

const tables = ["executions", "specs", "labels", "events", "receipts", "idempotency"]

const remembered = "remembered tree"

async function footprintOf(service: Service): Promise<Footprint> {
  const { stateDir, pid, gatewayPid } = service
  const memory = readTreeMemory(stateDir)
  const things = [
    ...processesBelow(pid).map((name) => `process ${name}`),
    ...filesOf(pid, stateDir).map((name) => `file of the keeper: ${name}`),
    ...filesOf(gatewayPid, stateDir).map((name) => `file of the gateway: ${name}`),
    ...namesBelow(memory?.cgroupBase ?? null).map((name) => `cgroup ${name}`),
    ...namesBelow(stateDir, isFile).map((name) => `state directory: ${name}`),
    ...Object.keys(memory?.seen ?? {}).map((id) => `${remembered} ${id}`),
  ]
  return new Map([
    ...[...Map.groupBy(things, (thing) => thing)].map(
      ([thing, all]) => [thing, all.length] as const,
    ),
    ...journalRows(stateDir),
    ["sessions", (await healthOf(service)).sessions],
  ])
}

/** What it has when it has nothing to do: nobody is connected, nothing is known or remembered. */
export async function footprintAtRest(service: Service): Promise<Footprint> {
  let last: Footprint = new Map()
  return until("the service is at rest", async () => {
    const earlier = last
    last = await footprintOf(service)
    const isIdle = last.get("sessions") === 0 && last.get("rows of executions") === 0
    const isForgotten = ![...last.keys()].some((thing) => thing.startsWith(remembered))
    const isAtRest = isIdle && isForgotten && differences(earlier, last).length === 0
    if (!isAtRest) await Bun.sleep(200) // closed sockets are gone a moment later
    return isAtRest && last
  })
}

/** What is more or less than it was, in words. */
function differences(before: Footprint, after: Footprint): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((thing) => {
    const [was, is] = [before.get(thing) ?? 0, after.get(thing) ?? 0]
    return was === is ? [] : [`${thing}: ${was} → ${is}`]
  })
}

/** Waits until everything is as it was; answers what is not in the end. */
export async function whatIsLeft(service: Service, before: Footprint): Promise<string[]> {
  let left: string[] = []
  const isTheSame = async () => {
    left = differences(before, await footprintOf(service))
    return left.length === 0
  }
  await until("everything is as it was before", isTheSame).catch(() => undefined)
  return left
}

function processesBelow(ancestor: number): string[] {
  const children = allPids().filter((pid) => readStat(pid)?.parent === ancestor)
  return children.flatMap((pid) => [
    `${pid} ${readStat(pid)?.state === "Z" ? "(a zombie)" : commandLine(pid)}`,
    ...processesBelow(pid),
  ])
}

/** What its descriptors lead to, without the numbers that the kernel gives to nameless things. */
function filesOf(pid: number, stateDir: string): string[] {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).flatMap((fd) => {
    const target = targetOf(join(folder, fd))
    if (target === null) return []
    const name = target.replace(/:\[\d+\]$/, "")
    return [name.startsWith(stateDir) ? relative(stateDir, name) : name]
  })
}

function targetOf(link: string): string | null {
  try {
    return readlinkSync(link)
  } catch (error) {
    if (isErrno(error, "ENOENT")) return null // closed since it was listed
    throw error
  }
}

type Entry = { name: string; isDirectory(): boolean }

const isFile = (entry: Entry) => !entry.isDirectory() || entry.name === "transcripts"

/** Folders below a folder, unless other entries are meant. */
function namesBelow(
  folder: string | null,
  isMeant = (entry: Entry) => entry.isDirectory(),
): string[] {
  if (folder === null || !existsSync(folder)) return []
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true })
  return entries
    .filter(isMeant)
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
}

function journalRows(stateDir: string): Array<[string, number]> {
  const opened = openForReading(statePathsIn(stateDir).journal)
  if (!opened.ok) throw new Error(opened.failure.message)
  using database = opened.value
  return tables.map((table) => {
    const count = database.query(`SELECT 1 FROM ${table}`).all().length
    return [`rows of ${table}`, count]
  })
}
