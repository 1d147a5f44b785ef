import { describe, expect, test } from "bun:test"
import { Breaker } from "../../../src/bridge/targets/breaker.ts"

function breaker(failures = 3, waitMs = 10_000) {
  const time = { ms: 1_000 }
  return { time, circuit: new Breaker({ failures, waitMs }, () => time.ms) }
}

function failTimes(circuit: Breaker, times: number): void {
  for (let count = 0; count < times; count += 1) {
    expect(circuit.go().ok).toBe(true)
    circuit.failed("ECONNREFUSED")
  }
}

describe("a circuit", () => {
  test("stays closed below its number of failures in a row", () => {
    const { circuit } = breaker()

    failTimes(circuit, 2)
    circuit.succeeded()
    failTimes(circuit, 2)

    expect(circuit.go().ok).toBe(true)
  })

  test("opens at that number, and says since when, until when and why", () => {
    const { circuit, time } = breaker()

    failTimes(circuit, 3)
    time.ms += 4_000

    const refused = { sinceMs: 1_000, untilMs: 11_000, why: "ECONNREFUSED" }
    expect(circuit.go()).toMatchObject({ ok: false, failure: refused })
  })

  test("lets one try after the wait, and nobody else meanwhile", () => {
    const { circuit, time } = breaker()
    failTimes(circuit, 3)

    time.ms += 10_000

    expect(circuit.go().ok).toBe(true)
    expect(circuit.state.kind).toBe("half-open")
    expect(circuit.go().ok).toBe(false)
  })

  test("closes when that one succeeds", () => {
    const { circuit, time } = breaker()
    failTimes(circuit, 3)
    time.ms += 10_000
    circuit.go()

    circuit.succeeded()

    expect(circuit.state).toEqual({ kind: "closed", failures: 0 })
  })

  test("opens for another wait when it fails, open since the first time", () => {
    const { circuit, time } = breaker()
    failTimes(circuit, 3)
    time.ms += 10_000
    circuit.go()

    circuit.failed("503")

    const state = { kind: "open", sinceMs: 1_000, untilMs: 21_000, why: "503" } as const
    expect(circuit.state).toEqual(state)
  })

  test("lets another one try when the first never says how it went", () => {
    const { circuit, time } = breaker()
    failTimes(circuit, 3)
    time.ms += 10_000
    circuit.go()

    time.ms += 10_000

    expect(circuit.go().ok).toBe(true)
  })

  test("is not kept open by those who were under way when it opened", () => {
    const { circuit, time } = breaker()
    failTimes(circuit, 3)

    time.ms += 9_000
    circuit.failed("late")
    time.ms += 1_000

    expect(circuit.go().ok).toBe(true)
  })
})
