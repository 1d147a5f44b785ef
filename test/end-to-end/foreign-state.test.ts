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
 * In a short run each kind is planted under each name once: three of four such pairs are for root,
 * and one is for the owner, whose commands start services; each has the next command. The third
 * user tries every command. In a full run everybody meets every pair with some commands, in a long
 * one with all. What has been an attack is tried in every run: see `planted-attacks.test.ts`.
 */
function casesOf(uid: number): PlantedCase[] {
  const lines = Object.values(linesOf(id)).flat()
  const kinds = Object.keys(plants)
  const pairs = everyName(id).flatMap((name) => kinds.map((kind) => ({ name, kind })))
  const few = pairs.filter((_, at) => {
    if (uid === stranger) return at % Math.floor(pairs.length / lines.length) === 0
    return (at % 4 === 3) === (uid === owner)
  })
  const chosen = byScale({ short: few, full: pairs, long: pairs })
  const many = byScale({ short: 1, full: uid === owner ? 2 : 4, long: lines.length })
  return chosen.flatMap((pair, at) =>
    Array.from({ length: many }, (_, step) => {
      const line = lines[(at * many + step) % lines.length] ?? []
      return { ...pair, line, uid }
    }),
  )
}

test("in a short run, too, everything comes up", () => {
  const cases = [0, owner].flatMap(casesOf)
  const pairs = everyName(id).length * Object.keys(plants).length

  expect(new Set(cases.map(({ name, kind }) => `${name} ${kind}`)).size).toBe(pairs)
  for (const uid of [0, owner, stranger]) {
    const own = casesOf(uid)
    expect(new Set(own.map(({ kind }) => kind)).size).toBe(Object.keys(plants).length)
    expect(new Set(own.map(({ line }) => line.join(" "))).size).toBe(
      Object.values(linesOf(id)).flat().length,
    )
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

    await each(Object.values(linesOf(id)).flat(), async (line) => {
      const finished = await home.use(line, stateDir, 0)
      expect(faultsOf(finished)).toEqual([])
      if (usesNoState.has(line.slice(0, 2).join(" "))) return
      expect(finished.stdout + finished.stderr).toContain(`a link of user ${owner}`)
    })
    expect(roots.look()).toBe(before)
  })
})

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
