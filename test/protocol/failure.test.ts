import { describe, expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import {
  failure,
  failureFrom,
  Reason,
  WireError,
  wireCodes,
  wireError,
} from "../../src/protocol/failure.ts"

/** The protocol's table of errors: clients rely on it, so it may grow and never change. */
const table: Record<Reason, number> = {
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  INTERNAL: -32603,
  SECURITY_DENIED: -32602,
  SESSION_LIMIT: -32001,
  PROCESS_NOT_FOUND: -32003,
  STREAM_TIMEOUT: -32004,
  RATE_LIMITED: -32005,
  AT_CAPACITY: -32006,
  UNAUTHORIZED: -32007,
  FORBIDDEN: -32007,
  WRONG_STATE: -32008,
  SPAWN_FAILED: -32009,
  EXPIRED: -32010,
  IDEMPOTENCY_MISMATCH: -32011,
  DISK_FULL: -32012,
  SHUTTING_DOWN: -32013,
  NAME_IN_USE: -32014,
  ALREADY_ANSWERED: -32015,
  SESSION_BUSY: -32016,
  OUTCOME_UNKNOWN: -32017,
  GIT_REFUSED: -32018,
  TRIAL_NOT_FOUND: -32019,
  NOT_ANNOUNCED: -32021,
  FLEET_UNAVAILABLE: -32022,
}

describe("an error's code", () => {
  test("is the one the protocol promises", () => {
    for (const reason of Reason.options) {
      expect({ reason, code: wireCodes(reason).rpc }).toEqual({ reason, code: table[reason] })
    }
    expect(Object.keys(table).toSorted()).toEqual(Reason.options.toSorted())
  })

  test("stands in the documentation beside its name", () => {
    const path = join(import.meta.dir, "../../docs/protocol.md")
    expect(existsSync(path)).toBe(true)
    const rows = readFileSync(path, "utf8").split("\n")
    for (const reason of Reason.options) {
      const isDocumented = rows.some(
        (row) => row.includes(String(table[reason])) && row.includes(`\`${reason}\``),
      )
      expect({ reason, isDocumented }).toEqual({ reason, isDocumented: true })
    }
  })

  test("has an HTTP status that says whose fault it is", () => {
    for (const reason of Reason.options) {
      const { http } = wireCodes(reason)
      expect(http).toBeGreaterThanOrEqual(400)
      expect(http).toBeLessThan(600)
    }
    expect(wireCodes("PROCESS_NOT_FOUND").http).toBe(404)
    expect(wireCodes("SECURITY_DENIED").http).toBe(403)
    expect(wireCodes("EXPIRED").http).toBe(410)
    expect(wireCodes("WRONG_STATE").http).toBe(409)
    expect(wireCodes("DISK_FULL").http).toBe(507)
  })
})

describe("a failure on the wire", () => {
  test("carries its details, and its reason under all circumstances", () => {
    const told = wireError(failure("WRONG_STATE", "It has ended.", { state: "ended", reason: "x" }))

    expect(WireError.parse(told)).toEqual({
      code: -32008,
      message: "It has ended.",
      data: { state: "ended", reason: "WRONG_STATE" },
    })
  })

  test("can be read back", () => {
    const refused = failure("SPAWN_FAILED", "No.", { errno: "ENOENT" })
    expect(failureFrom(wireError(refused))).toEqual(refused)
  })
})
