import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { chmodSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { commands } from "../../src/cli/commands.ts"
import { linesOf, OwnersHome } from "../support/owners-home.ts"
import { each, faultsIn, faultsOf, type PlantedCase } from "../support/planted-cases.ts"
import { everyName, giveAway, owner, plants, RootsOwn, stranger } from "../support/planted-state.ts"
import { byScale } from "../support/scale.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { notRoot, testUnless } from "../support/test-unless.ts"

const timeoutMs = byScale({ short: 180_000, full: 1_800_000, long: 7_200_000 })

const everybody = [0, owner, stranger]

let home: OwnersHome
let id = ""

beforeAll(async () => {
  if (notRoot !== null) return
  home = new OwnersHome()
  id = await home.fill()
})

afterAll(() => home?.[Symbol.dispose]())

test("every command says here how it uses a state directory", () => {
  expect(Object.keys(linesOf(""))).toEqual(commands.map(({ name }) => name))
})

describe("whatever is planted in a state directory of another user", () => {
  const tries = async (uid: number) => expect(await faultsIn(home, casesOf(uid))).toEqual([])

  testUnless(
    notRoot,
    "harms nothing of root's, whichever command root uses",
    () => tries(0),
    timeoutMs,
  )
  testUnless(
    notRoot,
    "is named to its owner, and keeps nobody waiting",
    () => tries(owner),
    timeoutMs,
  )
  testUnless(notRoot, "is none of a third user's business", () => tries(stranger), timeoutMs)
})

/**
 * In a full run everybody meets every pair of a name and a kind with some commands, in a long one
 * with all. In a short run every command is tried, with one name and kind after the other, each by
 * one of the three. What has been an attack is tried in every run: see `planted-attacks.test.ts`.
 */
function casesOf(uid: number): PlantedCase[] {
  const few = shortCases(uid)
  return byScale({ short: few, full: longCases(uid, uid === owner ? 2 : 4), long: longCases(uid) })
}

function shortCases(uid: number): PlantedCase[] {
  const lines = allLines()
  const kinds = Object.keys(plants)
  const names = everyName(id)
  const nth = everybody.indexOf(uid)
  const count = Math.max(lines.length, names.length)
  return Array.from({ length: count }, (_, at) => ({
    name: names[at % names.length] ?? "",
    // One further in every round through the names, so that each name meets other kinds.
    kind: kinds[(at + Math.floor(at / names.length)) % kinds.length] ?? "",
    line: lines[at % lines.length] ?? [],
    uid,
  })).filter((_, at) => at % everybody.length === nth)
}

function longCases(uid: number, linesForEach = allLines().length): PlantedCase[] {
  const lines = allLines()
  const pairs = everyName(id).flatMap((name) => Object.keys(plants).map((kind) => ({ name, kind })))
  return pairs.flatMap((pair, at) =>
    Array.from({ length: linesForEach }, (_, step) => {
      const line = lines[(at * linesForEach + step) % lines.length] ?? []
      return { ...pair, line, uid }
    }),
  )
}

/** One in so many. */
function shareOf(oneIn: number): (readonly string[])[] {
  return allLines().filter((_, at) => at % oneIn === 0)
}

function allLines(): (readonly string[])[] {
  return Object.values(linesOf(id)).flat()
}

test("in a short run, too, everything comes up", () => {
  const cases = everybody.flatMap(casesOf)

  expect(new Set(cases.map(({ name }) => name))).toEqual(new Set(everyName(id)))
  expect(new Set(cases.map(({ kind }) => kind))).toEqual(new Set(Object.keys(plants)))
  const wordsOf = (lines: (readonly string[])[]) => new Set(lines.map((line) => line.join(" ")))
  expect(wordsOf(cases.map(({ line }) => line))).toEqual(wordsOf(allLines()))
  for (const uid of everybody) {
    expect(new Set(casesOf(uid).map(({ kind }) => kind))).toEqual(new Set(Object.keys(plants)))
  }
})

describe("a link of another user's instead of a state directory", () => {
  testUnless(notRoot, "leads root nowhere", async () => {
    await using roots = new RootsOwn()
    using own = temporaryFolder()
    chmodSync(own.path, 0o755)
    const stateDir = join(own.path, "state")
    symlinkSync(roots.directory, stateDir)
    giveAway(stateDir)
    const before = roots.look()

    const lines = byScale({ short: shareOf(5), full: allLines(), long: allLines() })
    await each(lines, async (line) => {
      const finished = await home.use(line, stateDir, 0)
      expect(faultsOf(finished)).toEqual([])
      if (usesNoState.has(line.slice(0, 2).join(" "))) return
      const said = finished.stdout + finished.stderr
      if (noSuchWork.test(said)) return // it is looked for before the service is
      expect(said).toContain(`a link of user ${owner}`)
    })
    expect(roots.look()).toBe(before)
  })
})

const noSuchWork = /(?:no\.md|var\/empty) cannot be read/
const usesNoState = new Set([
  "context list",
  "context show",
  "token new",
  "mcp install",
  "policy check",
  "completions bash",
  "__complete attach",
  "version",
])
