import { describe, expect, test } from "bun:test"
import { GarbageCollector } from "../../../src/service/os/garbage-collector.ts"

const mebibyte = 1024 * 1024

/** What is done about the garbage of a process of that size while so many mebibytes pass. */
function collected(residentMb: number, passedMb: number): { young: number; all: number } {
  const seen = { young: 0, all: 0 }
  const pace = new GarbageCollector(40 * mebibyte, {
    residentBytes: () => residentMb * mebibyte,
    collectYoung: () => void (seen.young += 1),
    collectAll: () => void (seen.all += 1),
  })
  for (let mb = 0; mb < passedMb; mb += 1) pace.reportGarbage(mebibyte)
  return seen
}

describe("the garbage of a process", () => {
  test("is left alone for a while", () => {
    expect(collected(60, 9)).toEqual({ young: 0, all: 0 })
  })

  test("that is small is collected while it is young, and seldom all of it", () => {
    expect(collected(60, 160)).toEqual({ young: 15, all: 1 })
  })

  test("that is large is all collected four times as often", () => {
    expect(collected(78, 160)).toEqual({ young: 12, all: 4 })
  })

  test("that is too large is all collected every time", () => {
    expect(collected(95, 160)).toEqual({ young: 0, all: 16 })
  })
})
