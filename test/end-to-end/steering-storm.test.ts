import { expect, test } from "bun:test"
import { CallError } from "../../src/client/client-error.ts"
import type { Client } from "../../src/client/connect.ts"
import { describeAContainment } from "../support/each-containment.ts"
import { expectNothingLeft } from "../support/real-processes.ts"
import { byScale } from "../support/scale.ts"
import { seededRandom } from "../support/seeded-random.ts"
import { Service } from "../support/service.ts"
import { clientOf, fixture, Steered, shell } from "../support/steered.ts"

const kinds = [
  fixture("busy-tree.sh"),
  fixture("ignore-sigterm.sh"),
  fixture("daemonize.sh", "env -i"),
  fixture("hold-pipe.sh"),
  fixture("stop-itself.sh"),
  { ...shell("cat"), stdin: "pipe" as const },
  { ...shell("while read -r line; do echo $line; done"), terminal: { cols: 80, rows: 24 } },
  shell("seq 1 100000; exit 3"),
  { ...shell("yes"), timeout: 1 },
]

const storm = byScale({ short: kinds, full: [...kinds, ...kinds], long: [...kinds, ...kinds] })
const mostOrders = byScale({ short: 120, full: 300, long: 300 })

describeAContainment("many executions that are steered by many at once", (containment) => {
  test("all end as they should, and leave nothing", async () => {
    const flags = { containment, grace: "200ms", linger: "200ms", "max-executions": "6" }
    await using service = await Service.start({ flags })
    await using client = await clientOf(service)
    await using rival = await clientOf(service)
    const random = seededRandom(20_261_116)
    const pick = <Value>(values: readonly Value[]): Value => {
      const value = values[random(values.length)]
      if (value === undefined) throw new Error("there is nothing to pick from")
      return value
    }

    const runs: Steered[] = []
    for (const [index, params] of storm.entries()) {
      runs.push(await Steered.start(index % 2 === 0 ? client : rival, params))
    }
    const orders: Array<Promise<void>> = []
    for (let count = 0; count < mostOrders; count++) {
      orders.push(order(pick([client, rival]), pick(runs).id, pick(steps)))
      if (count % 5 === 0) await orders.at(-1)
    }
    await Promise.all(orders)
    for (const run of runs) await order(client, run.id, cancel)
    const ends = await Promise.all(runs.map((run) => run.ended()))

    for (const [index, run] of runs.entries()) {
      expect(run.events.at(-1)).toEqual({ kind: "completed", completed: nth(ends, index) })
      expect(await inOrder(run)).toBe(true)
      expect((await run.receipt()).survivors).toEqual([])
      await expectNothingLeft(service, run.id)
    }
    const after = await Steered.start(client, shell("echo well"))
    expect(await after.ended()).toMatchObject({ exit_code: 0 })
    expect(service.log.filter((line) => /"level":"error"/.test(line))).toEqual([])
  }, 60_000)
})

type Step = (client: Client, execution_id: string) => Promise<unknown>

const cancel: Step = (client, execution_id) =>
  client.call("control", { type: "CANCEL", execution_id })

const steps: Step[] = [
  (client, execution_id) => client.call("control", { type: "PAUSE", execution_id }),
  (client, execution_id) => client.call("control", { type: "PAUSE", execution_id }),
  (client, execution_id) => client.call("control", { type: "RESUME", execution_id }),
  (client, execution_id) => client.call("control", { type: "RESUME", execution_id }),
  (client, execution_id) =>
    client.call("control", { type: "SIGNAL", execution_id, signal: "SIGCONT" }),
  (client, execution_id) =>
    client.call("control", { type: "SIGNAL", execution_id, signal: "SIGWINCH" }),
  (client, execution_id) => client.call("input", { execution_id, data: "hello\n" }),
  (client, execution_id) => client.call("resize", { execution_id, cols: 100, rows: 30 }),
  (client, execution_id) => client.call("status", { execution_id }),
]

/** A refusal for its state is an answer like any other; whatever else fails is not. */
async function order(client: Client, executionId: string, step: Step): Promise<void> {
  try {
    await step(client, executionId)
  } catch (error) {
    const isAnswer = error instanceof CallError && answers.has(error.failure.reason)
    if (!isAnswer) throw error
  }
}

const answers = new Set(["WRONG_STATE", "RATE_LIMITED"])

/** It is told of a pause before the resume, and of the start before anything. */
async function inOrder(run: Steered): Promise<boolean> {
  const life = run.events.map(({ kind }) => kind).filter((kind) => kind !== "output")
  return /^(started,)?(paused,resumed,)*(paused,)?(canceled,)?completed$/.test(life.join(","))
}

function nth<Value>(values: Value[], index: number): Value {
  const value = values[index]
  if (value === undefined) throw new Error(`there is no number ${index}`)
  return value
}
