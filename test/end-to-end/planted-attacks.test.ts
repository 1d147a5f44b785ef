import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { endService, linesOf, OwnersHome } from "../support/owners-home.ts"
import { faultsIn, faultsOf, isNamed, type PlantedCase } from "../support/planted-cases.ts"
import { owner, plant, plantForNow, plants, RootsOwn } from "../support/planted-state.ts"
import { byScale, fewIfShort } from "../support/scale.ts"
import { isRunning } from "../support/service.ts"
import { notRoot, testUnless } from "../support/test-unless.ts"

setDefaultTimeout(180_000)

let home: OwnersHome
let id = ""

beforeAll(async () => {
  if (notRoot !== null) return
  home = new OwnersHome()
  id = await home.fill()
})

afterAll(() => home?.[Symbol.dispose]())

const link = "a link to root's file"
const pipe = "a named pipe"
const everybody = [0, owner]

/** Each of these names with each of these commands, in all their forms, for each user. */
function cases(
  names: readonly string[],
  kind: string,
  commands: readonly string[],
  uidsOf: (turn: number) => readonly number[],
): PlantedCase[] {
  const lines = commands.flatMap((command) => linesOf(id)[command] ?? [])
  return names.flatMap((name, at) =>
    lines.flatMap((line, nth) => uidsOf(at + nth).map((uid) => ({ name, kind, line, uid }))),
  )
}

/** In a short run just root, for what only root could do. */
const rootFirst = () => fewIfShort(1, everybody)

/** In a short run the two take turns. */
const inTurns = (turn: number) => fewIfShort(1, turn % 2 === 0 ? everybody : [owner, 0])

/** What once was an attack, in every run. */
describe("in a state directory of another user", () => {
  testUnless(
    notRoot,
    "a lock that names a process of root's is no reason to signal it",
    async () => {
      const found = await faultsIn(
        home,
        cases(["lock"], "hostile content", ["stop", "upgrade", "ps"], rootFirst),
      )

      expect(found).toEqual([])
    },
  )

  testUnless(notRoot, "a link gives nothing of root's away, nor changes it", async () => {
    const found = await faultsIn(home, [
      ...cases(["start.lock"], link, ["ps", "run"], rootFirst),
      ...cases(["upgrade.lock", "upgrade-request.json.new"], link, ["upgrade"], rootFirst),
      ...cases(["lock", "ballast", "service.log"], link, ["serve", "run"], inTurns),
    ])

    expect(found).toEqual([])
  })

  testUnless(notRoot, "nobody waits at a named pipe", async () => {
    const names = ["lock", "receipt-key.pem", "audit/00000001.jsonl"]
    const commands = ["ps", "doctor", "stop", "upgrade", "audit", "verify", "receipt"]

    // In a short run every second of them: each name and each command comes up.
    const all = cases(names, pipe, commands, inTurns)
    const some = all.filter((_, at) => at % byScale({ short: 2, full: 1, long: 1 }) === 0)

    expect(await faultsIn(home, some)).toEqual([])
  })

  testUnless(notRoot, "what cannot be checked is not called sound", async () => {
    await using roots = new RootsOwn()
    const tries = [
      { name: `transcripts/${id}/00000000.seg`, line: ["verify", "--offline", id] },
      { name: `transcripts/${id}`, line: ["verify", "--offline", id] },
      { name: "audit/00000001.jsonl", line: ["audit", "--verify"] },
      { name: "audit", line: ["audit", "--verify"] },
    ]
    for (const { name, line } of tries) {
      for (const kind of [link, "a link to a directory", pipe, "hostile content"]) {
        using copy = home.copy()
        plant(copy.stateDir, name, kind, roots)

        const finished = await home.use(line, copy.stateDir, owner)

        const isSound = finished.exitCode === 0
        const tried = { name, kind, isSound, faults: faultsOf(finished) }
        expect(tried).toEqual({ name, kind, isSound: false, faults: [] })
      }
    }
  })
})

describe("in the directory of a service that runs", () => {
  const names = [
    "upgrade.lock",
    "upgrade-request.json",
    "upgrade-report.json",
    "upgrade-request.json.new",
    "trees.json",
    "tokens.json",
    "journal.sqlite",
    "gateway.sock",
    "schema.json",
    "upgrade.lock.new",
    "upgrade-report.json.new",
    "ballast",
    "start.lock",
    "service.log.1",
    "receipt-key.pem",
    "audit/00000001.jsonl",
  ]

  testUnless(notRoot, "nothing that is planted makes an upgrade lose what runs", async () => {
    await using roots = new RootsOwn()
    const before = roots.look()
    using copy = home.copy()
    const { stateDir } = copy
    await home.use(["run", "-d", "--", "sleep", "1000"], stateDir, owner)
    const { pid } = JSON.parse(readFileSync(join(stateDir, "lock"), "utf8"))
    const kinds = [link, pipe, "hostile content"]

    for (const [at, name] of fewIfShort(9, names).entries()) {
      const some = [kinds[at % kinds.length] ?? link]
      for (const kind of byScale({ short: some, full: kinds, long: Object.keys(plants) })) {
        using _planted = plantForNow(stateDir, name, kind, roots)
        for (const uid of inTurns(at)) {
          const { exitCode, stderr } = await home.use(["upgrade"], stateDir, uid, upgradeMs)
          const isExplained = exitCode === 0 || /upgrade[-.]|belongs to user/.test(stderr)
          const isTold = isExplained || isNamed(name, stderr) || /journal/.test(stderr)
          expect({ name, kind, isTold, stderr }).toMatchObject({ isTold: true })
          expect({ name, kind, lives: isRunning(pid) }).toMatchObject({ lives: true })
        }
      }
    }
    const listed = await home.use(["ps"], stateDir, owner)

    expect(roots.look()).toBe(before)
    expect(listed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("sleep 1000") })
    await endService(stateDir)
  })
})

/** Where there is a service, upgrading is not what it is without one. */
const upgradeMs = 60_000
