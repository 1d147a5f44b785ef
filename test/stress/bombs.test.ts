import { describe, expect, test } from "bun:test"
import { findControllers } from "../support/controllers.ts"
import { describeEachContainment } from "../support/each-containment.ts"
import { expectNothingLeft, markedBy } from "../support/real-processes.ts"
import { Service } from "../support/service.ts"
import { clientOf, fixture, Steered, shell } from "../support/steered.ts"
import { StreamClient } from "../support/stream-client.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"
import { reported } from "./support/evidence.ts"

const enforceable = findControllers()
const noLimits =
  enforceable.has("pids") && enforceable.has("memoryBytes")
    ? null
    : "no cgroup controllers for processes and memory"
const flags = { containment: "cgroup" }
const limits = { pids: 40, memory: 67_108_864 }

describe("a child within limits", () => {
  testUnless(
    noLimits,
    "that forks without end is held, and ended with all of its processes",
    reported("fork bomb", async () => {
      await using service = await Service.start({ flags })
      await using client = await clientOf(service)
      const bomb = "echo ready; bomb() { bomb | bomb & }; bomb; wait; sleep 1000"
      const run = await Steered.start(client, { ...shell(bomb), limits })
      await until("no process more is to be had", () => /fork/i.test(run.text))

      const bystander = await Steered.start(client, shell("echo unharmed"))
      await bystander.ended()
      const { survivors } = await run.execution.cancel()

      expect(bystander.text).toBe("unharmed\n")
      expect(survivors).toEqual([])
      expect((await run.ended()).cause).toBe("client")
      await expectNothingLeft(service, run.id)
    }),
    60_000,
  )

  testUnless(
    noLimits,
    "that takes memory without end is ended, and the cause is told",
    reported("memory hog", async () => {
      await using service = await Service.start({ flags })
      await using client = await clientOf(service)
      const run = await Steered.start(client, { ...shell("tail /dev/zero"), limits })

      const { outcome, cause } = await run.ended()

      expect({ outcome, cause }).toEqual({ outcome: "stopped", cause: "out-of-memory" })
      await expectNothingLeft(service, run.id)
    }),
    60_000,
  )
})

describeEachContainment(
  "a storm of forks, half of them in sessions of their own",
  (containment) => {
    test(
      "leaves nobody behind when its keeper is killed in the middle",
      reported(`fork storm and keeper death, ${containment}`, async (evidence) => {
        using folder = temporaryFolder()
        const options = { stateDir: folder.path, flags: { containment } }
        await using service = await Service.start(options)
        const client = await StreamClient.connect(await service.url())
        const { id } = await client.execute(fixture("fork-storm.sh"))
        await until("the storm rages", () => markedBy(id).length > 50)

        process.kill(service.pid, "SIGKILL")
        client.cut()
        await service.exited
        await using next = await Service.start(options)
        const left = markedBy(id)
        evidence.orphans(left.length)
        using later = await StreamClient.connect(await next.url())
        const view = await later.call("status", { execution_id: id })

        expect(left).toEqual([])
        expect(view.ending).toMatchObject({ outcome: "lost", exit_code: null, signal: null })
        expect(view.survivors).toEqual([])
        await expectNothingLeft(next, id)
      }),
      60_000,
    )
  },
)
