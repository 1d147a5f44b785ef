import { describe, expect, test } from "bun:test"
import { markedBy } from "../support/real-processes.ts"
import { refusal } from "../support/refusal.ts"
import { Service } from "../support/service.ts"
import { clientOf, Steered, shell } from "../support/steered.ts"

const flags = { "max-executions": "2", "max-queue": "2" }
const forever = shell("echo ready; exec sleep 1000")

describe("a service whose places are all taken", () => {
  test("queues what comes, starts it when there is room, and refuses past the queue", async () => {
    await using service = await Service.start({ flags })
    await using client = await clientOf(service)
    const [first, second] = [
      await Steered.start(client, forever),
      await Steered.start(client, forever),
    ]
    const third = await Steered.start(client, shell("echo third; exit 3"))
    const fourth = await Steered.start(client, shell("echo fourth; exit 4"))

    const fifth = await refusal(client.call("execute", forever))

    expect(fifth).toMatchObject({ reason: "AT_CAPACITY", details: { retry_after: 1 } })
    expect(third.execution.pid).toBeNull()
    expect(await third.status()).toMatchObject({ state: "queued", pid: null, started_at: null })
    const { executions: queued } = await client.call("list", { state: "queued" })
    expect(queued.map(({ execution_id }) => execution_id).toSorted()).toEqual(
      [third.id, fourth.id].toSorted(),
    )
    expect(third.events).toEqual([])

    await first.execution.cancel()
    expect(await third.ended()).toMatchObject({ outcome: "exited", exit_code: 3 })
    expect(await fourth.ended()).toMatchObject({ outcome: "exited", exit_code: 4 })
    expect(third.events.map(({ kind }) => kind)).toEqual(["started", "output", "completed"])
    expect(third.text).toBe("third\n")
    expect((await second.status()).state).toBe("running")
    expect((await client.call("execute", forever)).status).toBe("started")
  })

  test("starts the queued in the order in which they came", async () => {
    await using service = await Service.start({ flags: { "max-executions": "1" } })
    await using client = await clientOf(service)
    const gate = await Steered.start(client, forever)
    const names = ["a", "b", "c", "d", "e"]
    const queued = []
    for (const name of names) queued.push(await Steered.start(client, shell(`echo ${name}`)))

    await gate.execution.cancel()
    await Promise.all(queued.map((run) => run.ended()))

    const times = await Promise.all(
      queued.map(async (run) => Date.parse((await run.status()).started_at ?? "")),
    )
    expect(times.toSorted((a, b) => a - b)).toEqual(times)
    expect(queued.map(({ text }) => text.trim())).toEqual(names)
  })

  test("cancels a queued one, which then never ran", async () => {
    await using service = await Service.start({ flags })
    await using client = await clientOf(service)
    await Steered.start(client, forever)
    const running = await Steered.start(client, forever)
    const third = await Steered.start(client, forever)
    const fourth = await Steered.start(client, shell("exit 4"))

    const canceled = await third.execution.cancel()

    expect(canceled).toMatchObject({ status: "canceled", processes: [], survivors: [] })
    expect(await third.ended()).toMatchObject({
      status: "failed",
      outcome: "stopped",
      cause: "client",
      exit_code: null,
      signal: null,
    })
    const receipt = await third.receipt()
    expect(receipt).toMatchObject({
      started_at: null,
      outcome: { kind: "stopped", cause: "client", exit: null },
    })
    expect(markedBy(third.id)).toEqual([])
    expect(await refusal(third.execution.cancel())).toMatchObject({ reason: "WRONG_STATE" })
    await running.execution.cancel()
    expect(await fourth.ended()).toMatchObject({ exit_code: 4 })
  })

  test("runs no clock of the queued, and gives them neither input nor signals", async () => {
    await using service = await Service.start({ flags })
    await using client = await clientOf(service)
    await Steered.start(client, forever)
    const running = await Steered.start(client, forever)
    const script = "sleep 0.2; exit 5"
    const third = await Steered.start(client, { ...shell(script), timeout: 0.5, stdin: "pipe" })

    const queued = { reason: "WRONG_STATE", details: { state: "queued" } }
    expect(await refusal(third.execution.signal("TERM"))).toMatchObject(queued)
    const early = client.call("input", { execution_id: third.id, data: "early" })
    expect(await refusal(early)).toMatchObject(queued)
    await Bun.sleep(700) // longer than its timeout
    await running.execution.cancel()

    expect(await third.ended()).toMatchObject({ outcome: "exited", exit_code: 5 })
  })

  test("tells a queued one that could not be started", async () => {
    await using service = await Service.start({ flags: { "max-executions": "1" } })
    await using client = await clientOf(service)
    const running = await Steered.start(client, forever)
    const cwd = `${service.stateDir}/soon-gone`
    await Bun.$`mkdir ${cwd}`
    const queued = await Steered.start(client, { argv: ["true"], cwd })
    const next = await Steered.start(client, { argv: ["true"] })
    await Bun.$`rmdir ${cwd}`

    await running.execution.cancel()

    expect(await queued.ended()).toMatchObject({
      status: "failed",
      outcome: "failed-to-start",
      exit_code: null,
      reason: expect.stringContaining("does not exist"),
    })
    expect(await next.ended()).toMatchObject({ status: "completed" })
  })
})
