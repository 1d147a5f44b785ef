import { describe, expect, test } from "bun:test"
import type { Scope } from "../../src/execution/scope.ts"
import { Acceptance } from "../../src/fleet/accept.ts"
import { Placements } from "../../src/fleet/placements.ts"
import { fail, ok } from "../../src/lib/result.ts"
import { ExecuteParams } from "../../src/protocol/execute.ts"
import { failure } from "../../src/protocol/failure.ts"
import type { Caller } from "../../src/service/access/caller.ts"
import { permit } from "../../src/service/access/permission.ts"
import { sampleId, sampleRecord } from "../support/sample-record.ts"

const id = sampleId(1)
const accepted = { state: "accepted", node: "b", epoch: 7, attempt: 1 } as const
const params = ExecuteParams.parse({
  argv: ["any"],
  placed: { execution_id: id, node: "b", epoch: 7, attempt: 1 },
})

function callerWith(...scopes: Scope[]): Caller {
  const known = { principal: "alice", address: "10.0.0.1", via: "node" }
  return { ...known, scopes: new Set(scopes), isStillGood: () => true }
}

/** A node that has accepted the execution before, and has its record or has not. */
function askedAgain(hasRecord: boolean) {
  const declared: string[] = []
  const acceptance = new Acceptance({
    node: "b",
    local: {
      execute: async () => fail(failure("INTERNAL", "it is started once")),
      async status(caller) {
        const permitted = permit(caller, "read")
        if (!permitted.ok) return permitted
        const record = sampleRecord({ id, principal: "alice" })
        return hasRecord ? ok(record) : fail(failure("PROCESS_NOT_FOUND", "Unknown execution."))
      },
    },
    table: {
      get: async () => ok({ value: accepted, revision: 3 }),
      replace: async () => ok(4),
    },
    placements: new Placements(
      () => 0,
      () => true,
      () => undefined,
    ),
    epoch: () => 7,
    hasRoom: () => true,
    isDrained: () => false,
    declareLost: async (one) => void declared.push(one),
    started: () => undefined,
  })
  return { declared, ask: (caller: Caller) => acceptance.accept(caller, params, false) }
}

describe("a node that is asked again for what it has accepted", () => {
  test("answers with its record, also to one who may start and not read", async () => {
    const { declared, ask } = askedAgain(true)

    expect(await ask(callerWith("execute"))).toMatchObject({
      ok: true,
      value: { record: { id }, repeated: true },
    })
    expect(declared).toEqual([])
  })

  test("declares lost what it has no record of", async () => {
    const { declared, ask } = askedAgain(false)

    expect(await ask(callerWith("execute"))).toMatchObject({
      failure: { reason: "OUTCOME_UNKNOWN" },
    })
    expect(declared).toEqual([id])
  })

  test("declares nothing for one who may start nothing", async () => {
    const { declared, ask } = askedAgain(false)

    expect(await ask(callerWith("read"))).toMatchObject({ failure: { reason: "FORBIDDEN" } })
    expect(declared).toEqual([])
  })
})
