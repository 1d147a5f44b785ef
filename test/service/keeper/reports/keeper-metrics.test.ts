import { describe, expect, test } from "bun:test"
import { StopCause } from "../../../../src/execution/state.ts"
import {
  allOutcomeLabels,
  KeeperMetrics,
  outcomeLabels,
} from "../../../../src/service/keeper/reports/keeper-metrics.ts"
import { catalogue } from "../../../../src/service/metrics/catalogue.ts"
import { textFormat } from "../../../../src/service/metrics/text-format.ts"
import { ManualClock } from "../../../support/manual-clock.ts"
import { parseMetrics } from "../../../support/metrics-text.ts"
import { NotedAudit } from "../../../support/noted.ts"
import { sampleId, sampleRecord } from "../../../support/sample-record.ts"

function counting() {
  const clock = new ManualClock()
  const metrics = new KeeperMetrics(clock)
  const told = (name: string) =>
    parseMetrics(textFormat(metrics.samples(), catalogue)).get(`cc_executor_${name}`)
  return { clock, metrics, told }
}

describe("the first output", () => {
  test("is measured once, from the start of the program", () => {
    const { clock, metrics, told } = counting()
    metrics.began(sampleId(1))
    clock.advance(2000)

    metrics.advanced(sampleId(1), 0)
    metrics.advanced(sampleId(1), 10)
    clock.advance(2000)
    metrics.advanced(sampleId(1), 10)

    expect(told("execution_first_output_seconds_count")).toBe(1)
    expect(told("execution_first_output_seconds_sum")).toBe(2)
    expect(told("output_taken_bytes_total")).toBe(20)
  })

  test("of who never said anything is not measured, nor waited for after its end", () => {
    const { metrics, told } = counting()
    const id = sampleId(1)
    const outcome = { kind: "exited", exitCode: 0 } as const
    metrics.began(id)
    metrics.changed(sampleRecord({ id, state: { kind: "ended", outcome } }))

    metrics.advanced(id, 10)

    expect(told("execution_first_output_seconds_count")).toBe(0)
    expect(told('executions_ended_total{outcome="exited",cause="zero"}')).toBe(1)
  })
})

test("a wait in the queue is from the request to the place", () => {
  const { clock, metrics, told } = counting()
  const record = sampleRecord({ createdAt: clock.now().toISOString() })
  clock.advance(90_000)

  metrics.changed({ ...record, state: { kind: "starting" } })
  metrics.changed({ ...record, state: { kind: "running", pid: 7 } })

  expect(told("queue_wait_seconds_count")).toBe(1)
  expect(told("queue_wait_seconds_sum")).toBe(90)
})

test("refusals are counted by reason, repeats with their number", () => {
  const { metrics, told } = counting()
  const audit = new NotedAudit()
  const noting = metrics.noting(audit)
  const attempt = {
    event: "attempt",
    principal: null,
    address: "unix",
    via: "http",
    method: "execute",
  } as const

  noting.note({ ...attempt, outcome: "refused", reason: "AT_CAPACITY" })
  noting.note({ ...attempt, outcome: "refused", reason: "AT_CAPACITY", count: 41 })
  noting.note({ ...attempt, outcome: "refused", count: 3 })
  noting.note({ ...attempt, outcome: "allowed" })

  expect(told('refusals_total{reason="AT_CAPACITY"}')).toBe(42)
  expect(told('refusals_total{reason="several"}')).toBe(3)
  expect(audit.notes).toHaveLength(4)
})

test("every outcome has labels that are told from the beginning", () => {
  const outcomes = [
    { kind: "exited", exitCode: 0 },
    { kind: "exited", exitCode: 255 },
    { kind: "signaled", signal: "SIGSEGV" },
    ...StopCause.options.map((cause) => ({ kind: "stopped", cause, exit: null }) as const),
    { kind: "failed-to-start", errno: "ENOENT", message: "gone" },
    { kind: "lost", reason: "internal: assertion failed" },
    { kind: "lost", reason: "SIGKILL did not end it: see the survivors" },
    { kind: "lost", reason: "not started: the service ended while it was queued" },
  ] as const
  expect(outcomes.map(outcomeLabels)).toEqual([...allOutcomeLabels])
})
