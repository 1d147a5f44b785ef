import { mkdirSync, rmdirSync } from "node:fs"
import { join } from "node:path"
import { methods } from "../../../../src/protocol/methods.ts"
import { type Chance, oneOf } from "../../../support/chance.ts"
import { RawSession } from "../../../support/raw-session.ts"
import type { Service } from "../../../support/service.ts"
import { fixture } from "../../../support/steered.ts"
import { healthOf } from "../health-of.ts"

export type Capacity = { maxExecutions: number; maxQueue: number }

/** What is done with a job; an execution's label says it. */
export type Deed = "run" | "cancel" | "abandon" | "spoil"

export type StormReport = {
  faults: string[]
  started: number
  refusals: number
  mostAtWork: number // as the jobs themselves saw it
  mostRunning: number // as the service says
  mostQueued: number
}

type Storm = { url: string; folder: string; chance: Chance; report: StormReport }

/** Many clients run, cancel, abandon and spoil jobs, always more of them than there is room for. */
export async function capacityStorm(
  service: Service,
  capacity: Capacity,
  options: { clients: number; durationMs: number; folder: string; chance: Chance },
): Promise<StormReport> {
  const { folder, chance } = options
  mkdirSync(join(folder, "at-work"), { recursive: true })
  const counts = { started: 0, refusals: 0, mostAtWork: 0, mostRunning: 0, mostQueued: 0 }
  const report: StormReport = { faults: [], ...counts }
  const storm = { url: await service.url(), folder, chance, report }
  const endMs = performance.now() + options.durationMs
  const isOver = () => performance.now() > endMs

  const clients = Array.from({ length: options.clients }, async (_, number) => {
    for (let turn = 0; !isOver(); turn += 1) await visit(storm, `${number}-${turn}`, isOver)
  })
  await Promise.all([watchHealth(service, report, isOver), ...clients])

  for (const [what, seen, most] of [
    ["at work, as they saw it", report.mostAtWork, capacity.maxExecutions],
    ["running, as the service said", report.mostRunning, capacity.maxExecutions],
    ["queued", report.mostQueued, capacity.maxQueue],
  ] as const) {
    if (seen > most) report.faults.push(`${seen} were ${what}`)
  }
  return report
}

/** One session, until it is abandoned with a job. */
async function visit(storm: Storm, name: string, isOver: () => boolean): Promise<void> {
  using session = await RawSession.open(storm.url)
  for (let turn = 0; !isOver(); turn += 1) {
    const deed = oneOf<Deed>(storm.chance, ["run", "cancel", "abandon", "spoil"])
    const id = await begin(storm, session, deed, join(storm.folder, `${name}-${turn}`))
    if (id === null)
      await Bun.sleep(storm.chance(30)) // sooner than it was asked to wait
    else if (deed === "abandon") return
    else await seeThrough(storm, session, deed, id)
  }
}

/** Answers the execution's id, or null when there was no room for it. */
async function begin(
  { report, folder, chance }: Storm,
  session: RawSession,
  deed: Deed,
  cwd: string,
): Promise<string | null> {
  mkdirSync(cwd)
  // Long against what a start takes: else all places are seldom taken at the instant of a look.
  const job = fixture("at-work.sh", join(folder, "at-work"), `0.${10 + chance(15)}`)
  const on_disconnect = deed === "abandon" ? "cancel" : "keep"
  const params = { ...job, cwd, on_disconnect, labels: { deed } }
  const answer = await session.response(session.request("execute", params))
  // What waits in the queue finds its folder gone; what runs in it already does not mind.
  if (deed === "spoil") rmdirSync(cwd)
  if ("error" in answer) {
    report.refusals += 1
    const { code, data } = answer.error
    const told = { code, reason: data.reason, retry_after: data["retry_after"] }
    const isRight = Bun.deepEquals(told, fullHouse)
    if (!isRight) report.faults.push(`refused with ${JSON.stringify(told)}`)
    return null
  }
  report.started += 1
  return methods.execute.result.parse(answer.result).execution_id
}

const fullHouse = { code: -32006, reason: "AT_CAPACITY", retry_after: 1 }

async function seeThrough(
  { report, chance }: Storm,
  session: RawSession,
  deed: Deed,
  id: string,
): Promise<void> {
  if (deed === "cancel") {
    await Bun.sleep(chance(60)) // until then it may wait, run or be over
    const canceled = await session.response(
      session.request("control", { type: "CANCEL", execution_id: id }),
    )
    const isTooLate = "error" in canceled && canceled.error.data.reason === "WRONG_STATE"
    if ("error" in canceled && !isTooLate) report.faults.push(canceled.error.message)
  }
  await session.heard("process.completed", id)
  const said = session.allHeard("process.output", id).filter(({ type }) => type === "stdout")
  const atWork = Number(said.map(({ data }) => data).join("") || 0)
  report.mostAtWork = Math.max(report.mostAtWork, atWork)
}

async function watchHealth(
  service: Service,
  report: StormReport,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    const { queued = 0, ...others } = (await healthOf(service)).executions
    const running = Object.values(others).reduce((sum, count) => sum + count, 0)
    report.mostRunning = Math.max(report.mostRunning, running)
    report.mostQueued = Math.max(report.mostQueued, queued)
    await Bun.sleep(2) // so often it looks
  }
}
