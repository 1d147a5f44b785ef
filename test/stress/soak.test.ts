import { expect, test } from "bun:test"
import { describeEachContainment } from "../support/each-containment.ts"
import { expectNothingLeft } from "../support/real-processes.ts"
import { scale, seed } from "../support/scale.ts"
import { Service } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { reported } from "./support/evidence.ts"
import { footprintAtRest, whatIsLeft } from "./support/footprint.ts"
import { growthNote, growthOf, mostGrowthMb } from "./support/growth.ts"
import { knownFloods } from "./support/mixed-load/floods.ts"
import { ownExecutable } from "./support/own-executable.ts"
import { prune } from "./support/prune.ts"
import { strangersBelow } from "./support/service-costs.ts"
import { keepBusy } from "./support/steady-load.ts"

const minutes = Number(process.env["STRESS_SOAK_MINUTES"] ?? "10")
const flags = { "disconnect-lease": "500ms", grace: "2s" }
// Both modes at once: a soak of ten minutes takes ten minutes.
const soak = scale === "long" ? test.concurrent : test.skip
const whenSkipped = scale === "long" ? "" : " (skipped: needs STRESS=long)"

describeEachContainment(`${minutes} minutes of a steady mix of everything`, (containment) => {
  soak(
    `leave memory and files as they were after the warm-up, and nothing behind${whenSkipped}`,
    reported(`soak, ${containment}`, async (evidence) => {
      evidence.note(`seed ${seed}`)
      await knownFloods()
      using own = ownExecutable()
      const { prefix } = own
      await using service = await Service.start({ prefix, flags: { ...flags, containment } })
      using folder = temporaryFolder()
      const load = { url: await service.url(), evidence, folder: folder.path, seed }
      expect(await keepBusy({ ...load, durationMs: 15_000 })).toEqual([])
      await prune(service)
      const before = await footprintAtRest(service)
      using watch = evidence.watch(service)

      const failures = await keepBusy({ ...load, seed: seed + 1, durationMs: minutes * 60_000 })
      const samples = [...watch.samples]
      const strangers = strangersBelow(service)
      await prune(service)
      const left = await whatIsLeft(service, before)

      evidence.orphans(strangers.length)
      const growths = growthOf(samples)
      evidence.note(growthNote(growths))
      if (failures.length > 0) throw new Error(`with seed ${seed}:\n${failures.join("\n")}`)
      expect(strangers).toEqual([])
      expect(left).toEqual([])
      for (const value of Object.values(growths)) expect(value).toBeLessThan(mostGrowthMb)
      await expectNothingLeft(service, "none")
      expect(service.log.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([])
    }),
    minutes * 60_000 + 240_000,
  )
})
