import { expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { calculator, fixList } from "../support/review-files.ts"
import { onlyInFull } from "../support/scale.ts"
import { sharedService } from "../support/shared-service.ts"
import { testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"
import { WorkFolder } from "../support/work-folder.ts"

const service = sharedService()
const listName = "executor/001_calc_fixes.json"
const fix = ["review", "fix", "--fixer", "sh fixer.sh", listName]

/** Says that it acts, and goes on when it is told to. */
const waitingFixer = `cat > /dev/null; sed -i s/-/+/ calc.sh
touch "$HERE/acting"; while ! test -e "$HERE/act"; do sleep 0.05; done
`

function waitingFolder(): { folder: WorkFolder; sign: (name: string) => string } {
  const folder = new WorkFolder(service(), calculator)
  const signs = join(folder.path, "..")
  folder.write("fixer.sh", waitingFixer.replaceAll("$HERE", signs))
  const one = { id: 1, severity: "major", verification: "sh tests/add.sh" }
  folder.write(listName, fixList("001_calc", [one]))
  folder.commitAll()
  return { folder, sign: (name) => join(signs, name) }
}

test("only one runner at a time puts right what stands in a list", async () => {
  const { folder, sign } = waitingFolder()
  await using _folder = folder
  const first = folder.start(...fix)
  await until("the fixer acts", () => existsSync(sign("acting")))

  const second = await folder.run(...fix)
  await Bun.write(sign("act"), "")

  expect(await first.exited).toBe(0)
  expect(second.exitCode).toBe(1)
  expect(second.stderr).toContain("is under way: wait until it has ended")
  expect(folder.ledger(listName)).toHaveLength(1)
  expect(folder.leftovers).toEqual([])
})

test("whoever is killed while a fixer acts keeps nobody from going on", async () => {
  const { folder, sign } = waitingFolder()
  await using _folder = folder
  const first = folder.start(...fix)
  await until("the fixer acts", () => existsSync(sign("acting")))
  first.kill("SIGKILL")
  await first.exited
  await Bun.write(sign("act"), "")

  const second = await folder.run(...fix)

  expect(second.exitCode).toBe(0)
  expect(folder.read(listName)).toContain('"status": "FIXED"')
  expect(folder.git("log", "--format=%s", "cc-executor/001_calc_fixes").split("\n")).toEqual([
    "001_calc_fixes 1: fault 1",
    "all",
  ])
  expect(folder.leftovers).toEqual([])
})

// The trial of a killed runner is lost after fifteen seconds.
testUnless(
  onlyInFull,
  "the review of a killed runner is lost, and the next one delivers it",
  async () => {
    const { folder, sign } = waitingFolder()
    await using _folder = folder
    folder.write("reviewer.sh", folder.read("fixer.sh"))
    const asked = ["review", "request", "--reviewer", "sh reviewer.sh", "calc", "calc.sh"]
    const request = (await folder.run(...asked)).stdout.trim()
    const first = folder.start("review", "run", request)
    await until("the reviewer acts", () => existsSync(sign("acting")))
    first.kill("SIGKILL")
    await first.exited
    folder.write(
      "reviewer.sh",
      `echo "# Fine" > "$REVIEW_FEEDBACK"\ncp list.json "$REVIEW_FIXES"\n`,
    )
    folder.write("list.json", fixList("002_calc", []))

    await until("its trial is lost", async () => {
      await folder.run("render", request)
      return existsSync(`${request}.intoto.jsonl`)
    })
    const second = await folder.run("review", "run", request)

    expect(second.exitCode).toBe(0)
    expect(await folder.json("verify", request)).toMatchObject({ status: { lost: 1, success: 1 } })
    expect(folder.leftovers).toEqual([])
  },
  90_000,
)
