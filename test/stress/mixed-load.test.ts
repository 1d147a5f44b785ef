import { expect, test } from "bun:test"
import { join } from "node:path"
import { describeAContainment } from "../support/each-containment.ts"
import { expectNothingLeft } from "../support/real-processes.ts"
import { byScale, seed } from "../support/scale.ts"
import { seededRandom } from "../support/seeded-random.ts"
import { Service } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { reported } from "./support/evidence.ts"
import { footprintAtRest, whatIsLeft } from "./support/footprint.ts"
import { knownFloods } from "./support/mixed-load/floods.ts"
import { loadMix, oneOfEach } from "./support/mixed-load/load-mix.ts"
import { playRound } from "./support/mixed-load/load-round.ts"
import { prune } from "./support/prune.ts"
import { strangersBelow } from "./support/service-costs.ts"

const sessions = 120
const durationMs = byScale({ short: 1000, full: 15_000, long: 300_000 })
const flags = {
  "max-sessions": "400",
  "max-executions": "400",
  "disconnect-lease": "500ms",
  grace: "2s",
}

describeAContainment("more than a hundred sessions with all kinds of work", (containment) => {
  const title = `mixed load, ${containment}`
  test(
    "are all told what the receipts say, and leave nothing behind",
    reported(title, async (evidence) => {
      evidence.note(`seed ${seed}`)
      await knownFloods()
      await using service = await Service.start({ flags: { ...flags, containment } })
      using _memory = evidence.watch(service)
      using folder = temporaryFolder()
      const random = seededRandom(seed)

      const play = { folder: join(folder.path, "warm-up"), seed: random(2 ** 31) }
      const failures = await playRound({ ...play, service, evidence }, oneOfEach)
      await prune(service)
      const before = await footprintAtRest(service)
      const endMs = performance.now() + durationMs
      for (let round = 1; round === 1 || performance.now() < endMs; round += 1) {
        const mix = loadMix(random, sessions + random(30))
        const plan = { folder: join(folder.path, String(round)), seed: random(2 ** 31) }
        const wrong = await playRound({ ...plan, service, evidence }, mix)
        evidence.orphans(strangersBelow(service).length)
        await prune(service)
        const more = await whatIsLeft(service, before)
        failures.push(...[...wrong, ...more].map((text) => `round ${round}: ${text}`))
        evidence.count("rounds", 1)
      }

      if (failures.length > 0) throw new Error(`with seed ${seed}:\n${failures.join("\n")}`)
      await expectNothingLeft(service, "none")
      expect(service.log.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([])
    }),
    durationMs + 400_000,
  )
})
