import { describe, expect, test } from "bun:test"
import { suggest } from "../../src/lib/suggest.ts"

const words = ["run", "ps", "mcp", "attach", "token create", "healthcheck"]

describe("a mistyped word", () => {
  test.each([
    ["rnu", "run"],
    ["sp", "ps"],
    ["pss", "ps"],
    ["Run", "run"],
    ["attahc", "attach"],
    ["atach", "attach"],
    ["token crate", "token create"],
    ["helthchek", "healthcheck"],
  ])("%s means %s", (word, meant) => {
    expect(suggest(word, words)).toBe(meant)
  })

  test.each(["top", "zzz", "", "attention"])("%p means none of them", (word) => {
    expect(suggest(word, words)).toBeNull()
  })
})
