import { test } from "bun:test"
import type { ContainmentMode } from "../../src/execution/record.ts"
import { describeEachContainment } from "../support/each-containment.ts"
import { byScale, scale, seed } from "../support/scale.ts"
import { notRoot } from "../support/test-unless.ts"
import { type Evidence, reported } from "./support/evidence.ts"
import { type FaultAbilities, faultPlan } from "./support/faults/fault-plan.ts"
import { type FaultRun, runFaults } from "./support/faults/fault-run.ts"
import { noWallClock } from "./support/faults/wall-clock.ts"

const abilities: FaultAbilities = {
  disk: notRoot === null,
  clock: noWallClock === null,
  longestStopMs: byScale({ short: 2000, full: 2000, long: 14_000 }),
  executions: 12,
  faults: 5,
}
// Between them: every kind of work, every kind of fault, and a restart on a full disk. A short run
// tries some of them in the one mode, and the others in the other.
const knownSeeds = [283, 754, 1442, 5000]
const someSeeds = { cgroup: knownSeeds.slice(0, 2), "best-effort": knownSeeds.slice(2) }
const freshSeeds = byScale({ short: 1, full: 2, long: 2 })
const longMs = 600_000

describeEachContainment("a service that suffers faults at random", (containment) => {
  test(
    "contradicts nothing that it told anybody",
    reported(`faults, ${containment}`, async (evidence) => {
      for (const [name, obstacle] of Object.entries({ disk: notRoot, clock: noWallClock })) {
        if (obstacle !== null) evidence.note(`no faults of the ${name}: ${obstacle}`)
      }
      const peakMb = { keeper: 0, gateway: 0 }
      for (const each of seedsToTry(containment)) {
        const run = await runFaults(faultPlan(each, abilities), containment)
        keep(evidence, each, run)
        if (run.violations.length > 0) throw new Error(tellOf(each, run))
        peakMb.keeper = Math.max(peakMb.keeper, run.peakMb.keeper)
        peakMb.gateway = Math.max(peakMb.gateway, run.peakMb.gateway)
      }
      const { keeper, gateway } = peakMb
      evidence.note(`memory at most: ${keeper.toFixed(0)} + ${gateway.toFixed(0)} MB`)
    }),
    longMs * 1.2,
  )
})

function* seedsToTry(containment: ContainmentMode): Generator<number> {
  if (process.env["STRESS_SEED"] !== undefined) return yield seed
  yield* byScale({ short: someSeeds[containment], full: knownSeeds, long: knownSeeds })
  const startedAtMs = performance.now()
  const isOver = (tried: number) =>
    scale === "long" ? performance.now() - startedAtMs > longMs : tried >= freshSeeds
  for (let tried = 0; !isOver(tried); tried += 1) yield seed + tried
}

function keep(evidence: Evidence, each: number, run: FaultRun): void {
  evidence.note(`seed ${each}`)
  evidence.count("runs", 1)
  evidence.count("faults", abilities.faults)
  evidence.count("executions", run.executions)
  evidence.count("bytes", run.bytes)
  evidence.count("connections", run.connections)
  evidence.orphans(run.orphans)
}

function tellOf(each: number, { violations, story }: FaultRun): string {
  return [
    `seed ${each}:`,
    ...violations.map((one) => `  ${one}`),
    "the plan and the story:",
    ...story.map((line) => `  ${line}`),
    `replay: STRESS_SEED=${each} bun test test/stress/faults.test.ts`,
  ].join("\n")
}
