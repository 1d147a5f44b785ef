import { describe, expect, test } from "bun:test"
import { signalName, signalNumber } from "../../../src/service/os/signals.ts"

describe("the number of a signal", () => {
  test("is found by name in any form, and by number in any form", () => {
    const spellings = ["SIGTERM", "TERM", "term", "sigterm", "SigTerm", "15", 15]
    for (const signal of spellings) expect(signalNumber(signal)).toBe(15)
    expect(signalNumber(64)).toBe(64)
  })

  test("is not made up", () => {
    for (const signal of ["", "SIG", "NONE", "SIGSIGTERM", "TERM ", "-15", "1.5", "65", 65, 0, -1])
      expect(signalNumber(signal)).toBeNull()
  })
})

describe("the name of a signal", () => {
  test("is the usual one, or its number", () => {
    expect(signalName(9)).toBe("SIGKILL")
    expect(signalName(40)).toBe("SIG40")
  })
})
