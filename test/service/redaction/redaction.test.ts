import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { compileRedaction, type NamedPattern } from "../../../src/service/redaction/redaction.ts"
import { seededRandom } from "../../support/seeded-random.ts"
import { naiveRedaction } from "./naive-redaction.ts"

function redactionOf(...patterns: Array<string | NamedPattern>) {
  const named = patterns.map((one) => (typeof one === "string" ? { name: null, text: one } : one))
  const compiled = compileRedaction(named)
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.failure))
  return compiled.value
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1")
}

/** What comes out of a stream that is cut into these pieces. */
function streamed(patterns: readonly NamedPattern[], pieces: readonly string[]) {
  const redactor = redactionOf(...patterns).stream()
  const told = pieces.map((piece) => latin1(redactor.push(Buffer.from(piece, "latin1"))))
  return { redacted: told.join("") + latin1(redactor.end()), count: redactor.count }
}

function cutAt(text: string, places: readonly number[]): string[] {
  const cuts = [0, ...places.map((place) => place % (text.length + 1)), text.length]
  const sorted = cuts.toSorted((a, b) => a - b)
  return sorted.slice(1).map((to, index) => text.slice(sorted[index], to))
}

describe("a text", () => {
  test.each([
    ["secret", "a secret b", "a [redacted] b", 1],
    ["sk-\\S+", "key sk-abc.def next", "key [redacted] next", 1],
    ["a{3}", "aaaaaaaa", "[redacted]", 1], // overlapping matches leave nothing between them
    ["ab", "ababab", "[redacted][redacted][redacted]", 3],
    ["ab|abcd", "abc abcd", "[redacted]c [redacted]", 2],
    ["ab|bcd", "abcd", "[redacted]", 1],
    ["(?i)token=\\w{4}", "Token=aB3_; toKEN=x", "[redacted]; toKEN=x", 1],
    ["\\d{3}-\\d{4}", "1234-56789", "1[redacted]9", 1],
    ["x.y", "x\ny xzy", "x\ny [redacted]", 1],
    ["[^a-c\\s]+", "abc de-] c", "abc [redacted] c", 1],
    ["[\\]a-]", "a]-b", "[redacted][redacted][redacted]b", 3],
    ["\\x41\\.\\*\\{", "A.*{", "[redacted]", 1],
    ["schlüssel(?:ä|ß)+", "Schlüssel schlüsselßä!", "Schlüssel [redacted]!", 1],
    ["(a(b|c)){2,3}d?", "abacabad abacd", "[redacted]ad [redacted]", 2],
    ["(?i)[^x]y", "Xy ay xY", "Xy [redacted] xY", 1],
  ])("%s in %j", (pattern, text, expected, count) => {
    expect(redactionOf(pattern).text(text)).toEqual({ text: expected, count })
  })

  test("names the pattern whose match is complete first, else the first in the list", () => {
    const patterns = [
      { name: "long", text: "abcd" },
      { name: "short", text: "ab" },
      { name: "same", text: "a[b]" },
    ]

    expect(redactionOf(...patterns).text("abcd xab")).toEqual({
      text: "[redacted:short] x[redacted:short]",
      count: 2,
    })
  })

  test("without a match is left as it is, also where it is no well-formed Unicode", () => {
    expect(redactionOf("secret").text("a\ud800b")).toEqual({ text: "a\ud800b", count: 0 })
  })
})

describe("a pattern that cannot be used", () => {
  test.each([
    ["", "empty text"],
    ["a*", "empty text"],
    ["(a|b?)", "empty text"],
    ["a.*b", "a.{0,200}b instead of a.*b"],
    ["a(b+c)?", "bound the repetition"],
    ["(ab)+c", "bound the repetition"],
    ["^a", "not an anchor"],
    ["a$", "not an anchor"],
    ["a\\b", "is a lookaround"],
    ["(a)\\1", "refer back"],
    ["(?=a)b", "only `:` is supported"],
    ["a+?", "lazy"],
    ["(?:a)++", "two repetitions"],
    ["*a", "nothing to repeat before it"],
    ["a|+", "nothing to repeat before it"],
    ["(a", "not closed"],
    ["a)", "closes nothing"],
    ["[a", "not closed"],
    ["[]", "empty"],
    ["[^\\x00-\\xff]", "no byte"],
    ["[z-a]", "turn it round"],
    ["[a-\\d]", "single byte"],
    ["[ä]", "(?:ä|…)"],
    ["[[:alpha:]]", "\\d, \\w, \\s"],
    ["a\\", "backslash"],
    ["\\xg1", "hexadecimal"],
    ["\\p{L}", "write the character itself"],
    ["\\y", "has no meaning"],
    ["a{", "to repeat"],
    ["a{3,2}", "ends before it begins"],
    ["a{0}", "leave it out"],
    ["a{99999}", "repetitions"],
    ["(a{50}){50}", "2500 bytes"],
    ["(a?){900}b", "too many combinations"],
    [`${"(".repeat(60)}a${")".repeat(60)}`, "nested"],
    ["a".repeat(5000), "characters"],
  ])("%j says why", (text, why) => {
    const compiled = compileRedaction([{ name: null, text }])

    expect(compiled.ok).toBe(false)
    expect(compiled.ok ? "" : compiled.failure[0]?.why).toContain(why)
  })

  test("is also one that is too many with the others", () => {
    const many = Array.from({ length: 5 }, () => ({ name: null, text: "a{2000}" }))

    expect(compileRedaction(many.slice(0, 4)).ok).toBe(true)
    expect(compileRedaction(many)).toMatchObject({ ok: false, failure: [{ pattern: 4 }] })
  })
})

// Few different characters, so that matches are frequent, overlap, and almost happen.
const atom = fc.constantFrom("a", "b", "c", "[ab]", "[^a]", ".", "\\n", "\\w", "(?:ab)", "(a|bc)")
const repeated = fc
  .tuple(atom, fc.constantFrom("", "", "?", "*", "+", "{2}", "{1,3}", "{2,}"))
  .map(([part, times]) => part + times)
const sequence = fc.array(repeated, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(""))
const pattern = fc
  .tuple(fc.constantFrom("", "", "(?i)"), fc.array(sequence, { minLength: 1, maxLength: 2 }))
  .map(([flag, options]) => flag + options.join("|"))
const usable = pattern.filter((text) => compileRedaction([{ name: null, text }]).ok)
const names = fc.constantFrom(null, "one", "two")
const patterns = fc.array(fc.record({ name: names, text: usable }), { minLength: 1, maxLength: 3 })
const text = fc.string({ unit: fc.constantFrom("a", "b", "c", "A", "\n", "z"), maxLength: 24 })

describe("a stream", () => {
  test("comes out as the whole text would, however it is cut", () => {
    const places = fc.array(fc.nat(), { maxLength: 6 })
    let replaced = 0
    fc.assert(
      fc.property(patterns, text, places, (some, whole, cuts) => {
        const expected = naiveRedaction(whole, some)
        replaced += expected.count
        expect(streamed(some, [whole])).toEqual(expected)
        expect(streamed(some, cutAt(whole, cuts))).toEqual(expected)
        expect(streamed(some, whole.split(""))).toEqual(expected)
      }),
      { numRuns: 1000 },
    )
    expect(replaced).toBeGreaterThan(500)
  }, 60_000)

  test("lets everything go that cannot belong to a match any more", () => {
    const redactor = redactionOf("sk-[a-z]{4,}", "a{3}b").stream()
    const push = (piece: string) => latin1(redactor.push(Buffer.from(piece)))

    expect(push("plain s")).toBe("plain ")
    expect(push("k")).toBe("")
    expect(push("i s")).toBe("ski ")
    expect(push("k-ab")).toBe("")
    expect(push("cd")).toBe("[redacted]")
    expect(push("efgh")).toBe("") // it only grows: nothing is held
    expect(push(". aaaaaaa")).toBe(". aaaa")
    expect(latin1(redactor.end())).toBe("aaa")
    expect(redactor.count).toBe(1)
  })

  test("does not disturb another one, even when the states' memory is made anew", () => {
    const redaction = redactionOf("[ab][abc]{30}!", "one")
    const [quiet, busy] = [redaction.stream(), redaction.stream()]
    const chance = seededRandom(1)
    const noise = new Uint8Array(60_000).map(() => 97 + chance(3))

    const first = latin1(quiet.push(Buffer.from("on")))
    const passed = latin1(busy.push(noise)) + latin1(busy.end())
    const second = latin1(quiet.push(Buffer.from("e, over")))

    expect(passed).toBe(latin1(noise))
    expect(first + second).toBe("[redacted], over")
  })

  test("keeps what it answered apart from what it is given later", () => {
    const redactor = redactionOf("secret").stream()
    const buffer = Buffer.from("xsec")
    const first = latin1(redactor.push(buffer))
    buffer.fill(0)
    const second = latin1(redactor.push(Buffer.from("ond")))

    expect(first + second).toBe("xsecond")
  })
})
