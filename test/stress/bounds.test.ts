import { expect, test } from "bun:test"
import { describeAContainment, describeEachContainment } from "../support/each-containment.ts"
import { RawSession } from "../support/raw-session.ts"
import { expectNothingLeft } from "../support/real-processes.ts"
import { byScale, seed } from "../support/scale.ts"
import { seededRandom } from "../support/seeded-random.ts"
import { Service } from "../support/service.ts"
import { fixture } from "../support/steered.ts"
import { StreamClient } from "../support/stream-client.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { until } from "../support/until.ts"
import { capacityStorm } from "./support/bounds/capacity-storm.ts"
import { fillTheHouse } from "./support/bounds/full-house.ts"
import { comeAndGo, loiter, rush } from "./support/bounds/session-storm.ts"
import { unexpectedEnds } from "./support/bounds/unexpected-ends.ts"
import { everyExecution } from "./support/every-execution.ts"
import { reported } from "./support/evidence.ts"
import { footprintAtRest, whatIsLeft } from "./support/footprint.ts"
import { healthOf } from "./support/health-of.ts"
import { prune } from "./support/prune.ts"

const stormMs = byScale({ short: 1200, full: 4000, long: 60_000 })
const warmUpMs = 700
const timeoutMs = stormMs + 90_000

describeAContainment("more sessions than there may be", (containment) => {
  test(
    "are refused by name, never too many and never too few, and leave nothing",
    reported(`session limit, ${containment}`, async (evidence) => {
      evidence.note(`seed ${seed}`)
      const limit = 12
      const flags = { containment, "max-sessions": String(limit) }
      await using service = await Service.start({ flags })
      const url = await service.url()
      const storm = { clients: 60, limit, chance: seededRandom(seed) }
      await comeAndGo(service, { ...storm, durationMs: warmUpMs })
      const before = await footprintAtRest(service)

      const seen = await comeAndGo(service, { ...storm, durationMs: stormMs })
      await until("all have left", async () => (await healthOf(service)).sessions === 0)
      const { sessions, faults } = await rush(url, 100)
      using loiterers = new DisposableStack()
      for (let count = 0; count < 20; count += 1) loiterers.use(await loiter(url))
      const runs = await Promise.all(sessions.map((session) => session.run({ command: "echo in" })))
      for (const session of sessions) session[Symbol.dispose]()

      expect([...seen.faults, ...faults]).toEqual([])
      expect(seen.most).toBeLessThanOrEqual(limit)
      expect(sessions.length).toBe(limit)
      expect(runs.map(({ stdout }) => stdout)).toEqual(runs.map(() => "in\n"))
      await prune(service)
      // The loiterers are still there; the service has let them go all the same.
      expect(await whatIsLeft(service, before)).toEqual([])
      evidence.count("visits", seen.visits)
      evidence.count("refusals", seen.refusals)
      evidence.count("most sessions at once", seen.most)
    }),
    timeoutMs,
  )
})

describeEachContainment("more executions than there is room for", (containment) => {
  test(
    "wait or are refused, never too many and never too few, and leave nothing",
    reported(`capacity and queue, ${containment}`, async (evidence) => {
      evidence.note(`seed ${seed}`)
      const capacity = { maxExecutions: 6, maxQueue: 8 }
      const flags = {
        containment,
        "max-executions": String(capacity.maxExecutions),
        "max-queue": String(capacity.maxQueue),
        "disconnect-lease": "50ms",
      }
      await using service = await Service.start({ flags })
      const url = await service.url()
      using folder = temporaryFolder()
      const storm = { clients: 40, folder: folder.path, chance: seededRandom(seed) }
      await capacityStorm(service, capacity, { ...storm, durationMs: warmUpMs })
      await everythingEnded(url)
      await prune(service)
      const before = await footprintAtRest(service)

      const second = { ...storm, folder: `${folder.path}/second`, durationMs: stormMs }
      const seen = await capacityStorm(service, capacity, second)
      const ended = await everythingEnded(url)
      const filled = [await fillTheHouse(url, capacity), await fillTheHouse(url, capacity)]

      const full = { started: 6, queued: 8, refused: ["AT_CAPACITY"] }
      expect([...seen.faults, ...unexpectedEnds(ended)]).toEqual([])
      expect(filled).toEqual([full, full])
      expect(seen.mostAtWork).toBe(capacity.maxExecutions)
      await everythingEnded(url)
      await expectNothingLeft(service, "none")
      await prune(service)
      expect(await whatIsLeft(service, before)).toEqual([])
      expect(service.log.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([])
      evidence.count("executions", seen.started)
      evidence.count("refusals", seen.refusals)
      evidence.count("most running at once", seen.mostRunning)
      evidence.count("most queued at once", seen.mostQueued)
    }),
    timeoutMs,
  )
})

describeAContainment("more requests than a session may have under way", (containment) => {
  test(
    "are refused with a time to wait, in each of many sessions, which then go on",
    reported(`requests under way, ${containment}`, async (evidence) => {
      await using service = await Service.start({ flags: { containment, grace: "1s" } })
      const url = await service.url()
      const hammer = () => Promise.all(Array.from({ length: 8 }, () => askTooMuch(url)))
      await hammer()
      await everythingEnded(url) // an answer to CANCEL may come before the end is on record
      await prune(service)
      const before = await footprintAtRest(service)

      const outcomes = await hammer()

      const right = { canceled: 256, refusals: Array.from({ length: 44 }, () => rateLimited) }
      expect(outcomes.filter((outcome) => !Bun.deepEquals(outcome, right))).toEqual([])
      await everythingEnded(url)
      await prune(service)
      expect(await whatIsLeft(service, before)).toEqual([])
      evidence.count("refusals", outcomes.flatMap(({ refusals }) => refusals).length)
    }),
    timeoutMs,
  )
})

const rateLimited = { code: -32005, reason: "RATE_LIMITED", retry_after: 1 }

/** Cancels a job that takes its time to end three hundred times, and then runs another one. */
async function askTooMuch(url: string): Promise<{ canceled: number; refusals: unknown[] }> {
  using session = await RawSession.open(url)
  const job = await session.call("execute", fixture("ignore-sigterm.sh"))
  await session.heard("process.output", job.execution_id)
  const ids = Array.from({ length: 300 }, () => session.request("control", { type: "CANCEL" }))
  const answers = await Promise.all(ids.map((id) => session.response(id)))
  const { completed } = await session.run({ command: "true" })
  expect(completed.exit_code).toBe(0)
  const refusals = answers.flatMap((answer) => ("error" in answer ? [answer.error] : []))
  return {
    canceled: answers.length - refusals.length,
    refusals: refusals.map(({ code, data }) => {
      return { code, reason: data.reason, retry_after: data["retry_after"] }
    }),
  }
}

async function everythingEnded(url: string) {
  using client = await StreamClient.connect(url)
  return await until("every execution has ended", async () => {
    const executions = await everyExecution(client)
    return executions.every(({ state }) => state === "ended") && executions
  })
}
