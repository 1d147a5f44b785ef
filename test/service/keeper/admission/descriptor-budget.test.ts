import { describe, expect, test } from "bun:test"
import {
  descriptorsOf,
  mostPerExecution,
  reservedDescriptors,
  serviceDescriptors,
} from "../../../../src/execution/descriptor-needs.ts"
import { ExecuteParams } from "../../../../src/protocol/execute.ts"
import { DescriptorBudget } from "../../../../src/service/keeper/admission/descriptor-budget.ts"
import { Keeper } from "../../../../src/service/keeper/keeper.ts"
import { ManualClock } from "../../../support/manual-clock.ts"
import { ScriptedChildren } from "../../../support/scripted-children.ts"
import { keeperPorts, keeperSettings } from "../../../support/scripted-keeper.ts"
import { until } from "../../../support/until.ts"
import { temporaryTranscripts } from "../../storage/transcript/temporary-transcripts.ts"

const local = { principal: "local", exempt: true }
const onPipes = descriptorsOf({ stdin: "closed" })

describe("an execution's descriptors", () => {
  test("are more with input, and most on a terminal", () => {
    const withInput = descriptorsOf({ stdin: "pipe" })
    const onTerminal = descriptorsOf({ stdin: "pipe", terminal: { cols: 80, rows: 24 } })

    expect([onPipes, withInput, onTerminal]).toEqual([4, 5, mostPerExecution])
  })

  test("count from the start, before they are opened, until it has ended", () => {
    const limit = serviceDescriptors + reservedDescriptors + 2 * onPipes
    const budget = new DescriptorBudget({ limit, open: () => serviceDescriptors })

    const first = budget.hold(onPipes)
    expect(budget.hasRoom(onPipes)).toBe(true)
    budget.hold(onPipes)
    expect(budget.hasRoom(onPipes)).toBe(false)
    first[Symbol.dispose]()
    expect(budget.hasRoom(onPipes)).toBe(true)
  })

  test("are refused in words, by what is really open where that is more", () => {
    const budget = new DescriptorBudget({ limit: 128, open: () => 122 })

    expect(budget.refusal(onPipes)).toMatchObject({
      reason: "AT_CAPACITY",
      message: expect.stringContaining("122 of the service's 128 file descriptors are in use"),
    })
  })
})

describe("a keeper with descriptors for one execution on a terminal", () => {
  const limit = serviceDescriptors + reservedDescriptors + mostPerExecution

  test("refuses another one, and starts it when the first has ended", async () => {
    using staged = stage({ maxExecutions: 10 })
    const { keeper, children } = staged
    start(keeper, "first")
    expect(start(keeper, "second")).toMatchObject({
      ok: false,
      failure: { reason: "AT_CAPACITY" },
    })

    children.end("first")
    await until("it has ended", () => keeper.live.size === 0)

    expect(start(keeper, "second").ok).toBe(true)
  })

  test("leaves others in the queue as long as there are none for them", async () => {
    using staged = stage({ maxExecutions: 1 })
    const { keeper, children, own } = staged
    start(keeper, "first")
    start(keeper, "second")

    own.open += mostPerExecution // somebody else has taken them
    children.end("first")
    await until("the first has ended", () => keeper.live.size === 1)
    keeper.startQueued()
    expect(children.started).toEqual(["first"])

    own.open = serviceDescriptors
    keeper.startQueued()
    expect(children.started).toEqual(["first", "second"])
  })

  function stage({ maxExecutions }: { maxExecutions: number }) {
    const clock = new ManualClock()
    const children = new ScriptedChildren(clock)
    const own = { open: serviceDescriptors }
    const descriptors = { limit, open: () => own.open }
    const transcripts = temporaryTranscripts()
    const world = { spawner: children, descriptors, transcripts: transcripts.store }
    const ports = { ...keeperPorts(clock), ...world }
    const keeper = new Keeper({ ...keeperSettings, maxExecutions }, ports)
    return { keeper, children, own, [Symbol.dispose]: () => transcripts[Symbol.dispose]() }
  }
})

function start(keeper: Keeper, name: string) {
  return keeper.start(local, ExecuteParams.parse({ argv: ["any", name] }))
}
