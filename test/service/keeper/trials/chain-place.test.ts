import { describe, expect, test } from "bun:test"
import type { ChainPlace } from "../../../../src/service/keeper/trial-store.ts"
import { nextPlace } from "../../../../src/service/keeper/trials/chain-place.ts"

const digest = (letter: string) => letter.repeat(64)
const work = { name: "T01", kind: "prompt", path: "/T01.md" }
const head: ChainPlace = { chain: digest("c"), sequence: 7, digest: digest("7") }
const known = { head: () => head, headAt: () => head }
const unknown = { head: () => null, headAt: () => null }

describe("the place of an announcement", () => {
  test("is the first where nothing is known of the file", () => {
    const first = { chain: null, sequence: 1, previous: null }
    expect(nextPlace("me", work, unknown)).toEqual({ ok: true, value: first })
  })

  test("is after the last of the file's chain, or of the chain that is given", () => {
    const value = { chain: head.chain, sequence: 8, previous: head.digest }
    const next = { ok: true, value } as const
    expect(nextPlace("me", work, known)).toEqual(next)
    expect(nextPlace("me", { ...work, chain: head.chain }, known)).toEqual(next)
    const older = { sequence: 3, digest: digest("3") }
    const given = { ...work, chain: head.chain, continues: older }
    expect(nextPlace("me", given, known)).toEqual(next)
  })

  test("is after what another service has added since", () => {
    const continues = { sequence: 9, digest: digest("9") }
    const given = { ...work, chain: head.chain, continues }
    expect(nextPlace("me", given, known)).toMatchObject({
      value: { sequence: 10, previous: digest("9") },
    })
  })

  test.each([
    ["a chain that nobody here knows", { chain: head.chain }, unknown],
    ["an end without a chain", { continues: { sequence: 1, digest: digest("1") } }, known],
    [
      "a chain that was continued twice",
      { chain: head.chain, continues: { sequence: 7, digest: digest("x") } },
      known,
    ],
  ])("is refused for %s", (_, given, store) => {
    expect(nextPlace("me", { ...work, ...given }, store).ok).toBe(false)
  })
})
