import { describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Client } from "../../src/client/connect.ts"
import { isSigned, NotificationReceiver, TargetsFile } from "../support/notification-receiver.ts"
import { byScale } from "../support/scale.ts"
import { isRunning, Service } from "../support/service.ts"
import { clientOf, shell } from "../support/steered.ts"
import { until } from "../support/until.ts"
import { upgraded } from "../support/upgraded.ts"

setDefaultTimeout(120_000)

/** The full run keeps a receiver down for a minute, as the promise has it. */
const downMs = byScale({ short: 3_000, full: 60_000, long: 60_000 })

async function end(client: Client, name: string): Promise<string> {
  const run = await client.execute({ ...shell("exit 0"), labels: { name } })
  await run.ended
  return run.id
}

async function killGateway(service: Service): Promise<void> {
  const { gatewayPid } = service
  process.kill(gatewayPid, "SIGKILL")
  await until("the gateway is gone", () => !isRunning(gatewayPid))
  const ready = async () => (await fetch(await service.url("/healthz"))).ok
  await until("another answers", () => ready().catch(() => false))
}

async function killKeeper(service: Service): Promise<void> {
  const { pid, gatewayPid } = service
  process.kill(pid, "SIGKILL")
  await until("both are gone", () => !isRunning(pid) && !isRunning(gatewayPid))
}

/** Every id once, however often it came; in the order in which they came first. */
function firstOf(receiver: NotificationReceiver): string[] {
  return [...new Set(receiver.all.map(({ body }) => body.id))]
}

describe("a receiver that is down", () => {
  test("gets all of it once it is back, in order, through every kind of restart", async () => {
    using receiver = new NotificationReceiver()
    using targets = TargetsFile.webhook(receiver.url)
    await receiver.goDown()
    const downSinceMs = performance.now()
    await using first = await Service.start({ flags: targets.flags })
    const { stateDir } = first
    const names: string[] = []
    const endSome = async (service: Service, word: string) => {
      await using client = await clientOf(service)
      for (const number of [1, 2, 3]) {
        names.push(`${word}-${number}`)
        await end(client, `${word}-${number}`)
      }
    }
    await endSome(first, "before")
    await killGateway(first)
    await endSome(first, "after-gateway")
    await upgraded(first)
    await endSome(first, "after-upgrade")
    await using client = await clientOf(first)
    const cut = await client.execute({ argv: ["sleep", "1000"], labels: { name: "cut-off" } })
    await killKeeper(first)
    names.push("cut-off")
    await using second = await Service.start({ flags: targets.flags, stateDir })
    await endSome(second, "after-keeper")
    const isOver = () => performance.now() - downSinceMs > downMs
    await until("it was down for long enough", isOver, 2 * downMs)

    receiver.comeBack()
    const got = await receiver.whenGot(names.length)

    expect(got.map(({ body }) => body.name)).toEqual(names)
    expect(new Set(got.map(({ body }) => body.id)).size).toBe(names.length)
    expect(got.every(isSigned)).toBe(true)
    const lost = got.find(({ body }) => body.event === "lost")
    expect(lost?.body).toMatchObject({ name: "cut-off", execution_id: cut.id })
    await using listing = await clientOf(second)
    await until("all are on record", async () => {
      const { deliveries } = await listing.call("notify.list", {})
      return deliveries.every(({ state }) => state === "delivered")
    })
    const { deliveries } = await listing.call("notify.list", {})
    expect(deliveries.map(({ delivery_id }) => delivery_id).toSorted()).toEqual(
      firstOf(receiver).toSorted(),
    )
    expect(Math.max(...deliveries.map(({ attempt_count }) => attempt_count))).toBeGreaterThan(1)
  })
})

describe("a gateway that is killed while a receiver has the message, and has not answered", () => {
  test("sends it again under the same id, and what follows comes after it", async () => {
    const held = Promise.withResolvers<Response>()
    using receiver = new NotificationReceiver((_, count) =>
      count === 1 ? held.promise : new Response("taken"),
    )
    using targets = TargetsFile.webhook(receiver.url)
    await using service = await Service.start({ flags: targets.flags })
    await using client = await clientOf(service)
    await end(client, "held")
    await receiver.whenGot(1)

    await killGateway(service)
    const [first, again] = await receiver.whenGot(2)
    held.resolve(new Response("too late"))

    expect(JSON.parse(again?.text ?? "")).toEqual(JSON.parse(first?.text ?? "{}"))
    expect(again?.headers["x-cc-executor-delivery"]).toBe(first?.body.id)
    await using listing = await clientOf(service)
    const { deliveries } = await listing.call("notify.list", {})
    expect(deliveries).toHaveLength(1)
  })
})

describe("a keeper that is killed again and again while things end", () => {
  test("loses none: what has ended is told, and what was cut off is told as lost", async () => {
    using receiver = new NotificationReceiver()
    using targets = TargetsFile.webhook(receiver.url)
    const services: Service[] = [await Service.start({ flags: targets.flags })]
    await using _first = services[0]
    const started = new Set<string>()
    const rounds = byScale({ short: 2, full: 8, long: 20 })
    for (let round = 0; round < rounds; round += 1) {
      const service = services.at(-1)
      if (service === undefined) throw new Error("there is none")
      await using client = await clientOf(service)
      const runs = Array.from({ length: 30 }, async (_, index) => {
        const run = await client.execute(shell(`sleep 0.${index % 10}`))
        started.add(run.id)
      })
      const all = Promise.allSettled(runs)
      await Promise.all(runs.slice(0, 20))
      await killKeeper(service)
      await client.close()
      await all
      const { stateDir } = service
      services.push(await Service.start({ flags: targets.flags, stateDir }))
    }
    const last = services.at(-1)
    await using _last = last
    await until("all are told", () => {
      const told = new Set(receiver.all.map(({ body }) => body["execution_id"]))
      return [...started].every((id) => told.has(id))
    })

    const byExecution = Map.groupBy(receiver.all, ({ body }) => body["execution_id"])
    for (const [, messages] of byExecution) {
      expect(new Set(messages.map(({ body }) => body.id)).size).toBe(1)
    }
    const events = Map.groupBy(receiver.all, ({ body }) => body.event)
    console.log([...events].map(([event, all]) => `${event}: ${all.length}`).join(", "))
  })
})
