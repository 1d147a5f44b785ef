import { describe, expect, test } from "bun:test"
import { describeAContainment } from "../support/each-containment.ts"
import { expectNothingLeft } from "../support/real-processes.ts"
import { Service } from "../support/service.ts"
import { sharedService } from "../support/shared-service.ts"
import { clientOf, Steered, shell } from "../support/steered.ts"
import { until } from "../support/until.ts"

const leased = { ...shell("echo ready; exec sleep 1000"), on_disconnect: "cancel" } as const

describeAContainment("with a lease of a second", (containment) => {
  const flags = { containment, "disconnect-lease": "1s", "max-executions": "1" }
  const shared = sharedService({ flags })

  describe("an execution that ends with its driver's connection", () => {
    test("is stopped when nobody drives it for as long as the lease", async () => {
      const service = shared()
      await using watcher = await clientOf(service)
      const driver = await clientOf(service)
      const run = await Steered.start(driver, leased)
      await run.untilLine(/^ready$/)
      const observed = await watcher.attach(run.id)

      const closedMs = performance.now()
      await driver.close()
      const completed = await observed.ended

      expect(performance.now() - closedMs).toBeGreaterThan(950)
      expect(completed).toMatchObject({
        status: "failed",
        outcome: "stopped",
        cause: "disconnected",
      })
      await expectNothingLeft(service, run.id)
    })

    test("goes on when somebody drives it again in time", async () => {
      const service = shared()
      const driver = await clientOf(service)
      const run = await Steered.start(driver, leased)
      await run.untilLine(/^ready$/)

      await driver.close()
      await using successor = await clientOf(service)
      const driven = await successor.attach(run.id, { role: "driver" })
      await Bun.sleep(1500) // the lease, and half of it again

      const { state } = await successor.call("status", { execution_id: run.id })
      expect(state).toBe("running")
      await driven.cancel()
      expect(await driven.ended).toMatchObject({ cause: "client" })
    })
  })

  describe("the lease", () => {
    test("is not held by an observer", async () => {
      const service = shared()
      await using driver = await clientOf(service)
      await using observer = await clientOf(service)
      const run = await Steered.start(driver, leased)
      await run.untilLine(/^ready$/)

      const observed = await observer.attach(run.id)
      await driver.close()

      expect(await observed.ended).toMatchObject({ outcome: "stopped", cause: "disconnected" })
    })

    test("is held by who is connected, though it only looks now", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const run = await Steered.start(client, leased)
      await run.untilLine(/^ready$/)

      await run.execution.detach()
      const observed = await client.attach(run.id)
      await Bun.sleep(2000) // twice the lease

      expect((await run.status()).state).toBe("running")
      await observed.cancel()
      expect(await observed.ended).toMatchObject({ cause: "client" })
    })

    test("begins with the start of a queued execution, held by who has waited for it", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const first = await Steered.start(client, shell("exec sleep 1000"))
      const queued = await Steered.start(client, leased)

      await first.execution.cancel()
      await queued.untilLine(/^ready$/)
      await Bun.sleep(2000) // twice the lease

      expect((await queued.status()).state).toBe("running")
      await queued.execution.cancel()
      expect(await queued.ended()).toMatchObject({ cause: "client" })
    })
  })
})

describe("a lease", () => {
  test("of no time at all is held from the start by who asked for the execution", async () => {
    await using service = await Service.start({ flags: { "disconnect-lease": "0s" } })
    await using client = await clientOf(service)
    await using observer = await clientOf(service)
    const run = await Steered.start(client, leased)
    await run.untilLine(/^ready$/)
    const observed = await observer.attach(run.id)

    expect((await run.status()).state).toBe("running")
    await client.close()

    expect(await observed.ended).toMatchObject({ outcome: "stopped", cause: "disconnected" })
  })

  test("survives a restart of the gateway, whose clients come back", async () => {
    await using service = await Service.start({ flags: { "disconnect-lease": "3s" } })
    await using client = await clientOf(service)
    const run = await Steered.start(client, leased)
    await run.untilLine(/^ready$/)

    const { gatewayPid } = service
    process.kill(gatewayPid, "SIGKILL")
    await until("the gateway is another one", () => {
      const isBack = existsGateway(service)
      return isBack !== null && isBack !== gatewayPid
    })
    await Bun.sleep(3500) // the lease, and more

    expect((await run.status()).state).toBe("running")
    await run.execution.cancel()
  }, 60_000)
})

function existsGateway(service: Service): number | null {
  try {
    return service.gatewayPid
  } catch {
    return null // between two of them
  }
}
