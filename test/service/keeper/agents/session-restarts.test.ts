import { describe, expect, test } from "bun:test"
import type { Restart } from "../../../../src/execution/restart.ts"
import { fail, ok } from "../../../../src/lib/result.ts"
import { failure, type Reason } from "../../../../src/protocol/failure.ts"
import { SessionRestarts } from "../../../../src/service/keeper/agents/session-restarts.ts"
import type { Keeper } from "../../../../src/service/keeper/keeper.ts"
import { MemoryJournal } from "../../../support/memory-journal.ts"
import { NotedAudit } from "../../../support/noted.ts"
import { sampleId } from "../../../support/sample-record.ts"
import { sampleSession, sampleStatus } from "../../../support/sample-session.ts"

const state = { kind: "ended", outcome: { kind: "lost", reason: "" } } as const
const pending = { kind: "pending", attempt: 2, notBefore: "2026-01-01T00:00:00.000Z" } as const
const work = { turns: [], status: null, problem: null }
const old = sampleSession({ maxTurns: 5 }, { state, restart: pending })
const next = sampleSession({ restartOf: old.id, restarts: 2 }, { id: sampleId(2) })

function staged(refusal: Reason | null = null) {
  const journal = new MemoryJournal()
  const audit = new NotedAudit()
  const asked: Parameters<Keeper["start"]>[] = []
  const start: Keeper["start"] = (...given) => {
    asked.push(given)
    if (refusal !== null) return fail(failure(refusal, "No."))
    journal.create(next, null, given[4]?.record)
    return ok({ record: next, repeated: false })
  }
  journal.create(old, null)
  const ports = { store: journal, audit, redaction: null, changed: () => undefined }
  const withReserve = (write: () => void) => {
    write()
    return true
  }
  const restarts = new SessionRestarts({ start }, { ...ports, withReserve })
  return { journal, audit, asked, restarts }
}

describe("a session that ended with the service", () => {
  test("is started again as it was, for whom it was, and linked", () => {
    const { restarts, asked, audit } = staged()
    const status = sampleStatus({ model: "opus", permission_mode: "acceptEdits" })

    const restarted = restarts.restart({ executionId: old.id, work: { ...work, status } })

    expect(restarted).toEqual(ok({ restart: { kind: "restarted", as: next.id } }))
    const [starter, request, , options, predecessor] = asked[0] ?? []
    expect(starter).toMatchObject({ principal: "local" })
    expect(request).toMatchObject({ argv: ["claude", "--verbose"], cwd: "/", stdin: "pipe" })
    expect(options).toMatchObject({
      model: "opus",
      permission_mode: "acceptEdits",
      max_turns: 5,
      args: ["--verbose"],
    })
    expect(predecessor).toMatchObject({ attempt: 2, record: { id: old.id } })
    expect(audit.notes).toMatchObject([
      { event: "session-restarted", execution_id: old.id, what: { as: next.id, attempt: 2 } },
    ])
  })

  test("is started once, however often that is asked for", () => {
    const { restarts, asked } = staged()
    const first = restarts.restart({ executionId: old.id, work })

    expect(restarts.restart({ executionId: old.id, work })).toEqual(first)
    expect(asked).toHaveLength(1)
    expect(restarts.predecessor({ executionId: old.id, work })).toBeNull()
  })

  test("stays to be restarted while there is no room for it", () => {
    const { restarts, journal, audit } = staged("AT_CAPACITY")

    expect(restarts.restart({ executionId: old.id, work })).toMatchObject({ ok: false })
    expect(journal.find(old.id)?.restart).toEqual(pending)
    expect(audit.notes).toEqual([])
  })

  test("waits for a person, with the reason, where it may not be started any more", () => {
    const { restarts, journal, audit } = staged("SECURITY_DENIED")

    const restart: Restart = { kind: "interrupted", why: "No.", missing: [] }
    expect(restarts.restart({ executionId: old.id, work })).toEqual(ok({ restart }))
    expect(journal.find(old.id)?.restart).toEqual(restart)
    expect(audit.notes).toMatchObject([{ event: "session-interrupted", what: { why: "No." } }])
  })

  test("waits for a person where its log cannot be read", () => {
    const { restarts, asked } = staged()
    const gone = { unreadable: "Its log is no longer kept." }

    expect(restarts.restart({ executionId: old.id, work: gone })).toMatchObject({
      value: { restart: { kind: "interrupted", why: gone.unreadable } },
    })
    expect(asked).toEqual([])
  })

  test("is not known any more when somebody has removed it", () => {
    const { restarts, journal } = staged()
    journal.remove(old.id)

    expect(restarts.restart({ executionId: old.id, work })).toMatchObject({
      failure: { reason: "PROCESS_NOT_FOUND" },
    })
  })
})
