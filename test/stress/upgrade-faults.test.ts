import { expect, setDefaultTimeout, test } from "bun:test"
import type { ContainmentMode, ProcessIdentity } from "../../src/execution/record.ts"
import { describeAContainment } from "../support/each-containment.ts"
import { expectAllTold, startFlood } from "../support/followed-flood.ts"
import { isStillThere, markedBy } from "../support/real-processes.ts"
import { byScale, seed } from "../support/scale.ts"
import { seededRandom } from "../support/seeded-random.ts"
import { Service } from "../support/service.ts"
import { clientOf, fixture, Steered, shell } from "../support/steered.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { runUpgrade, upgraded } from "../support/upgraded.ts"

setDefaultTimeout(byScale({ short: 120_000, full: 240_000, long: 900_000 }))

const rounds = byScale({ short: 2, full: 6, long: 100 })
/** A whole upgrade takes about as long; when within it the fault comes is what chance decides. */
const upgradeMs = 600

describeAContainment(`in the middle of an upgrade (STRESS_SEED=${seed})`, (containment) => {
  test("SIGKILL leaves nothing running, and the next start tells a true end of each", async () => {
    const chance = seededRandom(seed)
    for (let round = 0; round < rounds; round += 1) {
      using folder = temporaryFolder()
      const crowd = await startCrowd(folder.path, containment)
      crowd.service.kill("SIGUSR2")
      await Bun.sleep(chance(upgradeMs))
      crowd.service.kill("SIGKILL")
      await crowd.service.exited

      const ends = await endsAfterRestart(folder.path, containment, crowd.ids)

      // Where it came before or after the change, each is what it is for a service that is killed.
      for (const end of ends) expect(end).toMatch(/^(?:lost|exited 5)$/)
      expect(crowd.processes.filter(isStillThere)).toEqual([])
      expect(crowd.ids.flatMap(markedBy)).toEqual([])
    }
  })

  test("SIGTERM ends the service as ever: everything is stopped, and nothing lost", async () => {
    const chance = seededRandom(seed + 1)
    for (let round = 0; round < rounds; round += 1) {
      using folder = temporaryFolder()
      const crowd = await startCrowd(folder.path, containment)
      crowd.service.kill("SIGUSR2")
      await Bun.sleep(chance(upgradeMs))
      crowd.service.kill("SIGTERM")
      const exitCode = await crowd.service.exited

      const told = crowd.service.said.filter((line) => !line.includes("listening on"))
      expect({ exitCode, told }).toEqual({ exitCode: 0, told: [] })
      expect(crowd.processes.filter(isStillThere)).toEqual([])
      const ends = await endsAfterRestart(folder.path, containment, crowd.ids)
      for (const end of ends) expect(end).toMatch(/^(?:stopped shutdown|exited 5)$/)
    }
  })

  test("the death of a gateway, and a second upgrade, cost nobody a byte", async () => {
    const chance = seededRandom(seed + 2)
    await using running = await Service.start({ flags: { containment } })
    await using flood = await startFlood(running)

    for (let round = 0; round < rounds; round += 1) {
      const upgrades = [runUpgrade(running)]
      await Bun.sleep(chance(upgradeMs))
      if (round % 2 === 0) killGateway(running)
      else upgrades.push(runUpgrade(running))
      await Promise.all(upgrades)
    }
    await upgraded(running)
    await flood.untilAllHaveMore()
    await flood.execution.write("\n")

    await expectAllTold(flood)
  })
})

type Crowd = { service: Service; ids: string[]; processes: ProcessIdentity[] }

/** One that floods, one that escaped, one on a terminal, one that is paused, one about to end. */
async function startCrowd(stateDir: string, containment: ContainmentMode): Promise<Crowd> {
  const flags = { containment, "log-level": "warn" }
  const started = await Service.start({ stateDir, flags })
  const client = await clientOf(started)
  const [, daemonize = ""] = fixture("daemonize.sh").argv
  const terminal = { cols: 80, rows: 24 }
  const flood = await Steered.start(client, { argv: ["yes"], budget: { bytes: 4_000_000 } })
  const escaping = await Steered.start(client, shell(`sh ${daemonize}; exec sleep 1000`))
  const typed = await Steered.start(client, { ...shell("exec sleep 1000"), terminal })
  const paused = await Steered.start(client, shell("exec sleep 1000"))
  const ending = await Steered.start(client, shell("sleep 0.5; exit 5"))
  const daemon = await escaping.untilProcess("daemon")
  await paused.execution.pause()
  const leaders = [flood, escaping, typed, paused].map((run) => run.leader)
  const ids = [flood, escaping, typed, paused, ending].map(({ id }) => id)
  await client[Symbol.asyncDispose]()
  return { service: started, ids, processes: [...leaders, daemon] }
}

/** How each ended, in a word or two, as the next service on the same directory tells it. */
async function endsAfterRestart(
  stateDir: string,
  containment: ContainmentMode,
  ids: string[],
): Promise<string[]> {
  await using next = await Service.start({ stateDir, flags: { containment } })
  await using client = await clientOf(next)
  return await Promise.all(
    ids.map(async (execution_id) => {
      const { ending } = await client.call("status", { execution_id })
      const { outcome, cause, exit_code } = ending ?? { outcome: "none" }
      return [outcome, cause ?? (outcome === "exited" ? exit_code : null)]
        .filter((word) => word !== null && word !== undefined)
        .join(" ")
    }),
  )
}

/** It may be gone already: then there is nothing to kill. */
function killGateway(running: Service): void {
  try {
    process.kill(running.gatewayPid, "SIGKILL")
  } catch (error) {
    if (!(error instanceof Error)) throw error
  }
}
