import { describe, expect, test } from "bun:test"
import type { Attempt } from "../../../../src/protocol/audit-entry.ts"
import { failure } from "../../../../src/protocol/failure.ts"
import { keeperMethods } from "../../../../src/protocol/ipc.ts"
import { AuditTrail } from "../../../../src/service/gateway/operations/audit-trail.ts"
import type { Refusal } from "../../../../src/service/gateway/ports.ts"
import { ManualClock, settled } from "../../../support/manual-clock.ts"
import { sampleId } from "../../../support/sample-record.ts"
import { keeperBroke, ScriptedLink } from "../../../support/scripted-link.ts"

function trail(link = new ScriptedLink({ audit: () => ({}) })) {
  const clock = new ManualClock()
  const audit = new AuditTrail(() => link, clock)
  const told = () =>
    link.calls.flatMap(({ params }): Attempt[] => keeperMethods.audit.params.parse(params).refusals)
  const counts = () => told().reduce((sum, { count = 1 }) => sum + count, 0)
  return { clock, audit, link, told, counts }
}

/** So many refusals a second, each of another kind. */
function flood({ audit, clock }: ReturnType<typeof trail>, seconds: number, perSecond: number) {
  for (let second = 0; second < seconds; second += 1) {
    for (let nth = 0; nth < perSecond; nth += 1) {
      audit.refused(refusal({ address: `${second}.${nth}` }))
    }
    clock.advance(1000)
  }
}

/** The keeper answers what it was asked, and whatever that makes room for. */
async function answerAll(link: ScriptedLink): Promise<void> {
  for (const call of link.calls) await call.answer({})
}

function refusal(facts: Partial<Refusal> = {}): Refusal {
  return {
    principal: "alice",
    address: "192.0.2.7",
    via: "websocket",
    method: "status",
    failure: failure("PROCESS_NOT_FOUND", "There is no such execution."),
    ...facts,
  }
}

describe("a refusal", () => {
  test("is told to the keeper at once, with its reason", () => {
    const { audit, told } = trail()
    audit.refused(refusal({ principal: null, executionId: sampleId(3) }))

    expect(told()).toEqual([
      {
        event: "attempt",
        principal: null,
        address: "192.0.2.7",
        via: "websocket",
        method: "status",
        execution_id: sampleId(3),
        outcome: "refused",
        reason: "PROCESS_NOT_FOUND",
        message: "There is no such execution.",
      },
    ])
  })

  test("that the keeper has noted is not told again", () => {
    const { clock, audit, link } = trail()
    audit.refused(refusal({ failure: { ...failure("AT_CAPACITY", "No."), audited: true } }))
    clock.advance(1000)

    expect(link.calls).toEqual([])
  })

  test("tells no value of the environment in which a program was not found", () => {
    const { audit, told } = trail()
    const message = "any: command not found in PATH (/private/bin)."
    audit.refused(refusal({ failure: failure("SPAWN_FAILED", message, { errno: "ENOENT" }) }))

    expect(told()[0]?.message).toBe("Could not start: ENOENT.")
  })

  test("of what is no execution's id does not hold it", () => {
    const { audit, told } = trail()
    audit.refused(refusal({ executionId: "'; DROP TABLE" }))
    audit.refused(refusal({ method: "attach", executionId: { not: "a string" } }))

    expect(told().map(({ execution_id }) => execution_id)).toEqual([undefined, undefined])
  })
})

describe("a flood of refusals", () => {
  test("of one kind becomes two entries, whose counts add up", async () => {
    const { clock, audit, told, counts } = trail()
    for (let nth = 0; nth < 10_000; nth += 1) audit.refused(refusal())
    await settled()
    clock.advance(1000)

    expect(told()).toHaveLength(2)
    expect(counts()).toBe(10_000)
    clock.advance(1000)
    expect(clock.pending).toBe(0)
  })

  test("has one message under way, however long the keeper takes", async () => {
    const { audit, link, counts } = trail(new ScriptedLink())
    for (let nth = 0; nth < 50; nth += 1) audit.refused(refusal({ method: `method-${nth}` }))
    expect(link.calls).toHaveLength(1)

    await link.callTo("audit").answer({})

    expect(link.calls).toHaveLength(2)
    expect(counts()).toBe(50)
  })

  test("of more kinds than can be told apart is summed, and still adds up", async () => {
    const { clock, audit, told, counts } = trail()
    for (let nth = 0; nth < 5000; nth += 1) audit.refused(refusal({ address: `10.0.0.${nth}` }))
    await settled()
    clock.advance(1000)
    await settled()

    expect(told().at(-1)).toMatchObject({ address: "several", count: 4000 })
    expect(counts()).toBe(5000)
  })

  test("adds up also when the keeper takes nothing for a while", async () => {
    const slow = trail(new ScriptedLink())
    flood(slow, 15, 1000)
    await answerAll(slow.link)
    slow.clock.advance(1000)
    await answerAll(slow.link)

    expect(slow.counts()).toBe(15_000)
    expect(slow.told().length).toBeLessThan(3000)
    expect(slow.clock.pending).toBe(0)
  })

  test("adds up also when the gateway ends before the keeper has taken any", async () => {
    const slow = trail(new ScriptedLink())
    flood(slow, 15, 1000)
    const closed = slow.audit.close()
    await answerAll(slow.link)
    await closed

    expect(slow.counts()).toBe(15_000)
  })

  test("goes on when the keeper could not take a message", async () => {
    const { clock, audit, link } = trail(new ScriptedLink())
    audit.refused(refusal())
    await link.callTo("audit").refuse(keeperBroke)
    audit.refused(refusal())
    clock.advance(1000)

    expect(link.calls).toHaveLength(2)
  })

  test("is told in full before the gateway ends", async () => {
    const { audit, counts } = trail()
    for (let nth = 0; nth < 100; nth += 1) audit.refused(refusal())
    await audit.close()

    expect(counts()).toBe(100)
  })
})
