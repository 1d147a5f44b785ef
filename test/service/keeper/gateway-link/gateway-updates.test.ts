import { describe, expect, test } from "bun:test"
import type { KeeperMessage } from "../../../../src/protocol/ipc.ts"
import { GatewayUpdates } from "../../../../src/service/keeper/gateway-link/gateway-updates.ts"
import { ManualClock } from "../../../support/manual-clock.ts"
import { sampleId, sampleRecord, transcriptOf } from "../../../support/sample-record.ts"

const [one, two] = [sampleId(1), sampleId(2)]

function connected() {
  const clock = new ManualClock()
  clock.advance(1000)
  const bytes = new Map([
    [one, 0],
    [two, 0],
  ])
  const factsOf = (id: string) => {
    const count = bytes.get(id)
    return count === undefined ? null : transcriptOf(count)
  }
  const updates = new GatewayUpdates(factsOf, clock)
  const sent: Array<Extract<KeeperMessage, { kind: "updates" }>> = []
  updates.connect((message) => sent.push(message))
  const advance = (id: string, count: number) => {
    bytes.set(id, count)
    updates.advanced(id)
  }
  return { clock, updates, sent, advance, bytes }
}

describe("what the gateway is told", () => {
  test("is only of executions that it follows", () => {
    const { updates, sent, advance } = connected()
    updates.follow(one)

    advance(two, 10)
    updates.changed(sampleRecord({ id: two }))
    expect(sent).toEqual([])
    advance(one, 10)

    expect(sent).toEqual([
      {
        kind: "updates",
        advances: [{ executionId: one, transcript: transcriptOf(10) }],
        changes: [],
        resync: false,
      },
    ])
  })

  test("merges while a message is under way, and is of the moment it is sent", () => {
    const { clock, updates, sent, advance } = connected()
    updates.follow(one)
    updates.follow(two)
    advance(one, 1)

    for (let count = 2; count <= 5000; count++) advance(one, count)
    advance(two, 7)
    updates.changed(sampleRecord({ id: one }))
    expect(sent).toHaveLength(1)
    clock.advance(2)
    updates.acknowledged()

    expect(sent).toHaveLength(2)
    expect(sent[1]?.advances).toEqual([
      { executionId: one, transcript: transcriptOf(5000) },
      { executionId: two, transcript: transcriptOf(7) },
    ])
    expect(sent[1]?.changes).toEqual([sampleRecord({ id: one })])
  })

  test("waits for the acknowledgement, however long that takes", () => {
    const { clock, updates, sent, advance } = connected()
    updates.follow(one)
    advance(one, 1)
    advance(one, 2)

    clock.advance(60_000)
    expect(sent).toHaveLength(1)
    updates.acknowledged()
    expect(sent).toHaveLength(2)
    updates.acknowledged()
    updates.acknowledged()

    expect(sent).toHaveLength(2)
  })

  test("is every change of everything while somebody watches", () => {
    const { updates, sent } = connected()

    updates.watchAll(true)
    updates.changed(sampleRecord({ id: two }))
    updates.acknowledged()
    updates.watchAll(false)
    updates.changed(sampleRecord({ id: two }))

    expect(sent).toHaveLength(1)
    expect(sent[0]?.changes).toHaveLength(1)
  })

  test("is to look for itself, past a thousand changes, and still what has advanced", () => {
    const { clock, updates, sent, advance } = connected()
    updates.watchAll(true)
    updates.follow(one)
    updates.changed(sampleRecord({ id: two }))

    advance(one, 123)
    for (let number = 0; number < 1500; number++) updates.changed(sampleRecord({ id: two }))
    clock.advance(2)
    updates.acknowledged()

    expect(sent).toHaveLength(2)
    expect(sent[1]).toEqual({
      kind: "updates",
      advances: [{ executionId: one, transcript: transcriptOf(123) }],
      changes: [],
      resync: true,
    })
    updates.acknowledged()
    updates.changed(sampleRecord({ id: two }))
    expect(sent[2]).toMatchObject({ resync: false, changes: [{ id: two }] })
  })

  test("comes to a gateway that was started again only as far as it asks anew", () => {
    const { clock, updates, sent, advance } = connected()
    updates.follow(one)
    advance(one, 1)
    advance(one, 2)

    clock.advance(2)
    const later: unknown[] = []
    updates.connect((message) => later.push(message))
    advance(one, 3)
    updates.acknowledged()
    expect(later).toEqual([])
    updates.follow(one)
    advance(one, 4)

    expect(sent).toHaveLength(1)
    expect(later).toHaveLength(1)
  })

  test("is nothing more of an execution once its end was told", () => {
    const { clock, updates, sent, advance, bytes } = connected()
    updates.follow(one)
    const state = { kind: "ended", outcome: { kind: "exited", exitCode: 0 } } as const

    updates.changed(sampleRecord({ id: one, state }))
    bytes.delete(one)
    updates.acknowledged()
    clock.advance(10)
    advance(one, 9)
    updates.changed(sampleRecord({ id: one, state }))

    expect(sent).toHaveLength(1)
  })

  test("of output comes in short intervals, of changes at once", () => {
    const { clock, updates, sent, advance } = connected()
    updates.follow(one)
    advance(one, 1)
    updates.acknowledged()

    advance(one, 2)
    expect(sent).toHaveLength(1)
    clock.advance(2)
    expect(sent).toHaveLength(2)
    updates.acknowledged()
    updates.changed(sampleRecord({ id: one }))

    expect(sent).toHaveLength(3)
  })
})

describe("whoever waits until all is told", () => {
  test("waits for what is under way, and for what came meanwhile", async () => {
    const { updates, advance } = connected()
    updates.follow(one)
    advance(one, 10)
    updates.changed(sampleRecord({ id: one }))
    const order: string[] = []
    const told = updates.flushed().then(() => order.push("all told"))

    updates.acknowledged() // the first message; the change goes out
    await Promise.resolve()
    order.push("the second is taken")
    updates.acknowledged()
    await told

    expect(order).toEqual(["the second is taken", "all told"])
  })

  test("does not wait where there is nothing to tell, or nobody", async () => {
    const { updates, advance } = connected()
    await updates.flushed()
    updates.follow(one)
    advance(one, 10)
    const told = updates.flushed()
    updates.disconnect()
    await told
  })
})
