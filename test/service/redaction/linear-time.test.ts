import { describe, expect, test } from "bun:test"
import { compileRedaction } from "../../../src/service/redaction/redaction.ts"
import { byScale } from "../../support/scale.ts"
import { seededRandom } from "../../support/seeded-random.ts"

const attempts = byScale({ short: 3, full: 5, long: 5 })

/**
 * How many times longer four times the text takes, by the processor's time, which other programs
 * do not add to. Both are measured in turns, and the best of each counts.
 */
function growth(pattern: string, text: (length: number) => Uint8Array, given: Text): number {
  const { length, pieceBytes } = given
  const once: number[] = []
  const fourTimes: number[] = []
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    once.push(processorUs(pattern, text(length), pieceBytes))
    fourTimes.push(processorUs(pattern, text(4 * length), pieceBytes))
  }
  return Math.min(...fourTimes) / Math.min(...once)
}

type Text = { length: number; pieceBytes: number }

function processorUs(pattern: string, bytes: Uint8Array, pieceBytes: number): number {
  const compiled = compileRedaction([{ name: null, text: pattern }])
  if (!compiled.ok) throw new Error(compiled.failure[0]?.why)
  const redactor = compiled.value.stream()
  const before = process.cpuUsage()
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    redactor.push(bytes.subarray(at, at + pieceBytes))
  }
  redactor.end()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

const chance = seededRandom(7)
const onlyA = (length: number) => new Uint8Array(length).fill(97)
const noise = (length: number) => new Uint8Array(length).map(() => 97 + chance(3))
const almost = (length: number) => Buffer.alloc(length, `${"a".repeat(499)}c`)

describe("the time for a hostile text", () => {
  test.each([
    ["a beginning that never becomes a match", "a{500}b", onlyA, 1_000_000, 65_536],
    ["a match at every place", "a{500}", onlyA, 500_000, 65_536],
    ["many ways to read the same", "(a|aa|aaa){1,60}(b|c{3}b)", onlyA, 1_000_000, 65_536],
    ["matches that fail at their last byte", "a{499}b", almost, 1_000_000, 65_536],
    ["a new state at every byte", "[ab][abc]{30}!", noise, 150_000, 65_536],
    ["a new state at every byte, in matches", "[ab][abc]{30}", noise, 150_000, 65_536],
    ["small pieces with much held", "a{300}b", onlyA, 10_000, 1],
    ["small pieces with matches", "a{300}", onlyA, 10_000, 1],
  ])(
    "grows as the text does: %s",
    (_, pattern, text, length, pieceBytes) => {
      // Four times as long; sixteen times if it were quadratic.
      expect(growth(pattern, text, { length, pieceBytes })).toBeLessThan(8)
    },
    60_000,
  )
})
