import { describe, expect, test } from "bun:test"
import { describeEachContainment } from "../support/each-containment.ts"
import { descendantsOf, markedBy, zombiesOf } from "../support/real-processes.ts"
import { Service } from "../support/service.ts"
import { clientOf, fixture, Steered } from "../support/steered.ts"
import { until } from "../support/until.ts"

const namespace = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
const probe = Bun.spawnSync([...namespace, "true"], { stderr: "pipe" })
const isPossible = probe.success

describe.if(isPossible)("the first process of a container", () => {
  describeEachContainment("as which the service runs", (containment) => {
    test("reaps every orphan, ends every daemon, and heeds SIGTERM", async () => {
      const flags = { containment, linger: "300ms" }
      await using service = await Service.start({ flags, prefix: namespace })
      await using client = await clientOf(service)
      const [keeper] = descendantsOf(service.pid)
      if (keeper === undefined) throw new Error("the service is not there")
      const daemon = await Steered.start(client, fixture("daemonize.sh", "env -i"))
      // By itself: of several executions at once, none could be said to have left the daemon.
      expect(await daemon.ended()).toMatchObject({ outcome: "exited", exit_code: 0 })
      expect((await daemon.receipt()).killed_after_exit).toHaveLength(1)
      const orphans = await Steered.start(client, fixture("orphans.sh", "50"))
      await orphans.untilLine(/^done$/)

      await until("the orphans have ended", () => markedBy(orphans.id).length === 1)
      await until("and are reaped", () => zombiesOf(keeper.pid).length === 0)

      process.kill(keeper.pid, "SIGTERM")
      expect(await service.exited).toBe(0)
      expect(await orphans.ended()).toMatchObject({ cause: "shutdown" })
      expect([...markedBy(orphans.id), ...markedBy(daemon.id)]).toEqual([])
    })
  })
})
