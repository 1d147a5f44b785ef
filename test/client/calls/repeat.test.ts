import { describe, expect, test } from "bun:test"
import { isSafeToRepeat } from "../../../src/client/calls/repeat.ts"

const id = "k3tq7mzxw5yhd2vbn4c6fsaelu"

describe("a request whose answer was lost", () => {
  test.each([
    ["control", { type: "CANCEL" }],
    ["control", { type: "PAUSE" }],
    ["input", { data: "x", offset: 0 }],
    ["resize", { cols: 80, rows: 24 }],
    ["remove", {}],
  ] as const)(
    "%s is repeated by a whole id alone: a name may be another's by then",
    (method, more) => {
      expect(isSafeToRepeat(method, { ...more, execution_id: id })).toBe(true)
      for (const execution_id of ["nightly", id.slice(0, 8)]) {
        expect(isSafeToRepeat(method, { ...more, execution_id })).toBe(false)
      }
    },
  )

  test("that only asks is repeated as it is", () => {
    expect(isSafeToRepeat("status", { execution_id: "nightly" })).toBe(true)
  })
})
