import { describe, expect, test } from "bun:test"
import { restartAfterLoss } from "../../../../src/service/keeper/housekeeping/restart-after-loss.ts"
import { sampleId, sampleRecord } from "../../../support/sample-record.ts"
import { sampleSession, sampleStatus } from "../../../support/sample-session.ts"

const now = new Date("2026-01-01T12:00:00.000Z")
const noTurns = { accepted: 0, ended: 0, waiting: 0, current: null, responses: 0 }

describe("what a dead keeper left", () => {
  test("is restarted at once where it is a session", () => {
    expect(restartAfterLoss(sampleSession(), now)).toEqual({
      kind: "pending",
      attempt: 1,
      notBefore: now.toISOString(),
    })
  })

  test("stays ended where it is a command, or was to stay ended", () => {
    expect(restartAfterLoss(sampleRecord(), now)).toBeNull()
    expect(restartAfterLoss(sampleSession({ restart: "never" }), now)).toBeNull()
  })

  test("stays ended where it was ending, or had not begun", () => {
    const stopping = { kind: "stopping", pid: 7, cause: "client", exit: null } as const
    const exit = { kind: "exited", exitCode: 0 } as const
    const draining = { kind: "draining", pid: 7, exit, cause: null } as const
    for (const state of [stopping, draining, { kind: "queued" } as const]) {
      expect(restartAfterLoss(sampleSession({}, { state }), now)).toBeNull()
    }
    for (const cause of ["budget", "end"]) {
      const agent = sampleStatus({ end: { cause, message: "" } })
      expect(restartAfterLoss(sampleSession({}, { agent }), now)).toBeNull()
    }
  })

  test("goes on where it was told to end and had turns left, or waited to go on", () => {
    const turns = { ...noTurns, accepted: 2, ended: 1 }
    const agent = sampleStatus({ turns, end: { cause: "end", message: "alice ended it." } })
    const queued = { state: { kind: "queued" } } as const

    expect(restartAfterLoss(sampleSession({}, { agent }), now)).toMatchObject({ kind: "pending" })
    const rest = sampleSession({ restartOf: sampleId(9), restarts: 1 }, queued)
    expect(restartAfterLoss(rest, now)).toMatchObject({ kind: "pending", attempt: 2 })
  })

  test("is restarted after longer and longer waits, and at last not at all", () => {
    const waits = [0, 1, 2, 3, 4, 5].map((restarts) => {
      const restart = restartAfterLoss(sampleSession({ restartOf: sampleId(9), restarts }), now)
      return restart?.kind === "pending"
        ? Date.parse(restart.notBefore) - now.getTime()
        : restart?.kind
    })

    expect(waits).toEqual([0, 5_000, 30_000, 120_000, 600_000, "interrupted"])
  })

  test("begins a new row where a turn has ended", () => {
    const agent = sampleStatus({ turns: { ...noTurns, accepted: 1, ended: 1 } })
    const session = sampleSession({ restartOf: sampleId(9), restarts: 5 }, { agent })

    expect(restartAfterLoss(session, now)).toMatchObject({ kind: "pending", attempt: 1 })
  })

  test("waits for a person where something is missing, or it was paused", () => {
    const session = sampleSession()
    const given = { ...session, spec: { ...session.spec, envNames: ["TOKEN"] } }
    const redacted = { stdout: 0, stderr: 0, spec: 1 }
    const paused = { kind: "paused", pid: 7 } as const

    expect(restartAfterLoss(given, now)).toMatchObject({ kind: "interrupted", missing: ["TOKEN"] })
    for (const change of [{ redacted }, { state: paused }]) {
      const restart = restartAfterLoss(sampleSession({}, change), now)
      expect(restart).toMatchObject({ kind: "interrupted", missing: [] })
    }
  })
})
