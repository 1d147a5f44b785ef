import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import {
  absolutePath,
  boolean,
  choice,
  count,
  decimal,
  duration,
  orNone,
  readSize,
  size,
} from "../../src/config/text-form.ts"
import { readDuration } from "../../src/lib/duration.ts"

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.stringMatching(/^[0-9.eE+ -]{0,12}(?:ms|s|m|h|d|k|KiB|gb|T|b|)$/),
  fc.constantFrom("", " ", "1e3", "0x10", "Infinity", "NaN", "-0", "١", "１", "1_000", "1,5"),
)

const anyNumber = fc.oneof(fc.bigInt(0n, 100_000n), fc.bigInt(0n, 2n ** 60n))

/** Written down once more, and not as the program has it. */
const unitsOfTime: [string, bigint][] = [
  ["ms", 1n],
  ["s", 1000n],
  ["m", 60_000n],
  ["h", 3_600_000n],
  ["d", 86_400_000n],
  ["", 1000n],
]
const unitsOfSize: [string, bigint][] = [
  ["", 1n],
  ["b", 1n],
  ["k", 2n ** 10n],
  ["KB", 2n ** 10n],
  ["KiB", 2n ** 10n],
  ["M", 2n ** 20n],
  ["gib", 2n ** 30n],
  ["TiB", 2n ** 40n],
]

describe.each([
  ["a duration", readDuration, unitsOfTime],
  ["a size", readSize, unitsOfSize],
] as const)("%s", (_, read, units) => {
  test("is its number times its unit, exactly, or nothing at all", () => {
    fc.assert(
      fc.property(anyNumber, fc.constantFrom(...units), (number, [unit, factor]) => {
        const product = number * factor
        const isExact = product <= BigInt(Number.MAX_SAFE_INTEGER) && number < 2n ** 53n
        const text = `${number}${unit}`
        expect({ text, value: read(text) }).toEqual({
          text,
          value: isExact ? Number(product) : undefined,
        })
      }),
      { numRuns: 1000 },
    )
  })

  test("is a whole number that is not negative, or nothing, whatever the text", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const value = read(text)
        if (value === undefined) return
        expect(Number.isSafeInteger(value)).toBe(true)
        expect(value).toBeGreaterThanOrEqual(0)
        expect(text).toMatch(/^\d/)
      }),
      { numRuns: 3000 },
    )
  })
})

describe("a text that may be anything", () => {
  const forms: [string, { safeParse(text: string): { success: boolean; data?: unknown } }, Fits][] =
    [
      ["duration", duration({ min: "1s", max: "1h" }).schema, within(1000, 3_600_000)],
      ["size", size({ min: "1k", max: "1M" }).schema, within(1024, 1_048_576)],
      ["count", count({ min: 1, max: 9 }).schema, within(1, 9)],
      ["decimal", decimal({ min: 0.5, max: 9.5 }).schema, within(0.5, 9.5)],
      ["or none", orNone(count({ min: 1, max: 9 })).schema, (v) => v === null || within(1, 9)(v)],
      ["boolean", boolean().schema, (value) => typeof value === "boolean"],
      ["choice", choice(["one", "two"]).schema, (value) => value === "one" || value === "two"],
      ["path", absolutePath().schema, (value) => String(value).startsWith("/")],
    ]

  test.each(forms)("is a %s within its bounds, or refused", (_, schema, fits) => {
    fc.assert(
      fc.property(anyText, (text) => {
        const read = schema.safeParse(text)
        if (read.success) expect(fits(read.data)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })
})

type Fits = (value: unknown) => boolean

function within(min: number, max: number): Fits {
  return (value) => typeof value === "number" && value >= min && value <= max
}
