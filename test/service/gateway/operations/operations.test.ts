import { describe, expect, test } from "bun:test"
import type { ExecutionId } from "../../../../src/execution/id.ts"
import { sampleId, sampleRecord } from "../../../support/sample-record.ts"
import { caller, StagedExecution } from "../../../support/staged-execution.ts"

const missing = { ok: false, failure: { reason: "PROCESS_NOT_FOUND" } }

function withOthers(staged: StagedExecution, ...ids: ExecutionId[]): void {
  const state = { kind: "ended", outcome: { kind: "exited", exitCode: 0 } } as const
  staged.journal.write(...ids.map((id) => sampleRecord({ id, state })))
}

describe("an execution's name", () => {
  test("may be any beginning of its id that fits no other", async () => {
    using staged = new StagedExecution()
    const { operations, id } = staged
    withOthers(staged, "b".repeat(26), `${"b".repeat(25)}c`)

    for (const length of [1, 8, 25, 26]) {
      const found = await operations.status(caller, id.slice(0, length))
      expect(found).toMatchObject({ ok: true, value: { id } })
    }
    expect(await operations.status(caller, "bbbb")).toMatchObject(missing)
    const only = await operations.status(caller, `${"b".repeat(25)}c`)
    expect(only.ok).toBe(true)
  })

  test("that fits several is refused with the reason", async () => {
    using staged = new StagedExecution()
    withOthers(staged, "b".repeat(26), `${"b".repeat(25)}c`)

    const found = await staged.operations.status(caller, "bbbb")

    expect(found).toMatchObject(missing)
    expect(found.ok ? "" : found.failure.message).toContain("Several")
  })

  test("that is none at all is not looked for on the disk", async () => {
    using staged = new StagedExecution()
    for (const name of ["", "../../x", "A".repeat(26), "1", "a".repeat(27), "a b", "é"]) {
      expect(await staged.operations.status(caller, name)).toMatchObject(missing)
      expect(await staged.operations.open(caller, name, "start")).toMatchObject(missing)
    }
  })
})

describe("the status", () => {
  test("of a live execution is the keeper's, of an ended one the journal's", async () => {
    using staged = new StagedExecution()
    staged.write("12345\n")
    const live = await staged.operations.status(caller, staged.id)
    staged.end()
    const ended = await staged.operations.status(caller, staged.id)

    expect(live).toMatchObject({ value: { transcript: { stdout: { bytes: 6 } } } })
    expect(ended).toMatchObject({ value: { state: { kind: "ended" } } })
    expect(staged.link.methods).toEqual(["find"])
  })
})

describe("a cursor", () => {
  test("past the end of the output belongs to another execution", async () => {
    using staged = new StagedExecution()
    staged.write("short\n")
    const opened = await staged.operations.open(caller, staged.id, "1.0.0.zzz.0.0")

    expect(opened).toMatchObject({ ok: false, failure: { reason: "INVALID_PARAMS" } })
    expect(staged.link.methods).toEqual(["follow", "unfollow"])
  })

  test("into the middle of something belongs to another execution, too", async () => {
    using staged = new StagedExecution()
    for (let line = 0; line < 20; line += 1) staged.write(`line ${line}\n`)
    for (const cursor of ["1.0.1.5.0.0", "1.0.3k.2.0.0", "1.0.1c.8.1.7", "1.1.3k.0.0.0"]) {
      const opened = await staged.operations.open(caller, staged.id, cursor)
      expect(opened).toMatchObject({ ok: false, failure: { reason: "INVALID_PARAMS" } })
    }
  })

  test.each([["tail:"], ["tail:x"], ["since:"], ["since:never"], ["Start"], [" "]])(
    "%p is none",
    async (from) => {
      using staged = new StagedExecution()
      const opened = await staged.operations.open(caller, staged.id, from)
      expect(opened).toMatchObject({ ok: false, failure: { reason: "INVALID_PARAMS" } })
    },
  )
})

describe("a claim about the output", () => {
  test("is confirmed with its place, or refuted with the reason", async () => {
    using staged = new StagedExecution()
    staged.write("what was said\n")
    staged.end()
    const verify = (claim: { contains?: string; hash?: string }) =>
      staged.operations.verify(caller, { execution_id: staged.id, ...claim })
    const { hashes } = staged.record

    expect(await verify({})).toMatchObject({ value: { verified: true, chain: "intact" } })
    expect(await verify({ contains: "was" })).toMatchObject({
      value: { verified: true, where: { type: "stdout", sequence: 5 } },
    })
    expect(await verify({ contains: "wasn't" })).toMatchObject({ value: { verified: false } })
    expect(await verify({ hash: hashes?.stdout?.toUpperCase() ?? "" })).toMatchObject({
      value: { verified: true, hash: "stdout" },
    })
    expect(await verify({ hash: "0".repeat(64) })).toMatchObject({ value: { verified: false } })
  })

  test("cannot be checked once the transcript is not kept any more", async () => {
    using staged = new StagedExecution()
    staged.write("what was said\n")
    staged.end()
    staged.expire()

    const verdict = await staged.operations.verify(caller, { execution_id: staged.id })

    expect(verdict).toMatchObject({ ok: false, failure: { reason: "EXPIRED" } })
  })

  test("finds a transcript that somebody else removed broken, not expired", async () => {
    using staged = new StagedExecution()
    staged.write("what was said\n")
    staged.end()
    staged.transcripts.store.remove(staged.id)

    const verdict = await staged.operations.verify(caller, { execution_id: staged.id })

    expect(verdict).toMatchObject({ value: { verified: false, chain: "broken at 0" } })
  })
})

describe("a receipt", () => {
  test("comes with the end", async () => {
    using staged = new StagedExecution()
    const early = await staged.operations.receipt(caller, staged.id)
    const nobody = await staged.operations.receipt(caller, sampleId(99))

    expect(early).toMatchObject({
      failure: { reason: "WRONG_STATE", details: { state: "running" } },
    })
    expect(nobody).toMatchObject(missing)
  })
})
