import { describe, expect, test } from "bun:test"
import { userInfo } from "node:os"
import { z } from "zod"
import { Terminal } from "../cli/terminal/terminal.ts"
import { calculator, fixer, fixList, threeFixes } from "../support/review-files.ts"
import { executable } from "../support/service.ts"
import { sharedService } from "../support/shared-service.ts"
import { WorkFolder } from "../support/work-folder.ts"

const service = sharedService()
const listName = "executor/001_calc_fixes.json"
const fix = ["review", "fix", "--fixer", "sh fixer.sh"]

const Results = z.object({
  fixes: z.array(z.looseObject({ id: z.unknown(), result: z.looseObject({}).optional() })),
})

/** What stands in the list as the result of each fix. */
function resultsIn(folder: WorkFolder, name = listName): unknown[] {
  return Results.parse(JSON.parse(folder.read(name))).fixes.map(({ result }) => result?.["status"])
}

describe("three fixes in a repository: true already, mended, and not to be mended", () => {
  test("become what was seen, whatever the fixer says", async () => {
    const files = { ...calculator, "fixer.sh": fixer }
    await using folder = new WorkFolder(service(), files)
    folder.write(listName, fixList("001_calc", threeFixes))
    folder.commitAll()
    const before = folder.read(listName)

    const run = await folder.run(...fix, listName)

    expect(run.exitCode).toBe(1)
    expect(resultsIn(folder)).toEqual(["NO_CHANGE_NEEDED", "FIXED", "FAILED"])
    expect(run.stdout).toContain("3 FAILED: green green-1: it still fails: exit 1")
    // The critical one came first, and the file is the same but for the results.
    expect(run.stderr.match(/^\d(?=, trial)/gm)).toEqual(["2", "3", "1", "1"])
    const withoutResults = folder.read(listName).replace(/,\n\s+"result": .*/g, "")
    expect(withoutResults).toBe(before)
    expect(folder.git("show", "cc-executor/001_calc_fixes:calc.sh")).toContain("$1 + $2")
    expect(folder.git("log", "--format=%s", "cc-executor/001_calc_fixes").split("\n")).toEqual([
      "001_calc_fixes 2: fault 2",
      "all",
    ])
    expect(folder.read("calc.sh")).toContain("$1 - $2")
    expect(await folder.json("verify", listName)).toMatchObject({
      exitCode: 0,
      status: { kind: "fixes", success: 2, failure: 1 },
    })
    expect(folder.leftovers).toEqual([])
  })

  test("cannot be made FIXED by hand: that is found, and written as it was", async () => {
    const files = { ...calculator, "fixer.sh": fixer }
    await using folder = new WorkFolder(service(), files)
    folder.write(listName, fixList("001_calc", threeFixes))
    await folder.run(...fix, listName)
    const text = folder.read(listName)

    folder.write(listName, text.replace('"status": "FAILED"', '"status": "FIXED"'))
    const edited = await folder.run("verify", listName)
    const rendered = await folder.run("render", listName)

    expect(edited.exitCode).toBe(1)
    expect(edited.stdout).toContain("edited")
    expect(rendered.exitCode).toBe(0)
    expect(folder.read(listName)).toBe(text)
  })

  test("are tried again only where open, and without git in the directory itself", async () => {
    const files = { ...calculator, "fixer.sh": fixer }
    await using folder = new WorkFolder(service(), files)
    folder.write(listName, fixList("001_calc", threeFixes))

    await folder.run(...fix, listName)
    folder.write("fixer.sh", `${fixer}printf 'echo 2' > calc.sh\n`)
    const again = await folder.json(...fix, listName)

    expect(again["run"]).toMatchObject({ trials: [{ fix: "3", verdict: "PASSED" }] })
    expect(again.exitCode).toBe(0)
    expect(resultsIn(folder)).toEqual(["NO_CHANGE_NEEDED", "FIXED", "FIXED"])
    expect(folder.read("calc.sh")).toBe("echo 2")
  })
})

describe("a fixer is refused", () => {
  const check = [{ id: 1, severity: "major", verification: "sh tests/add.sh" }]
  test.each([
    ["that changes what the verification runs", "echo true > tests/add.sh"],
    ["that adds to the tests", "cp calc.sh tests/more.sh; sed -i s/-/+/ calc.sh"],
    [
      "that writes its own result",
      'sed -i s/-/+/ calc.sh; sed -i \'s/"fix":/"result": {}, "fix":/\' executor/*.json',
    ],
  ])("%s", async (_, deed) => {
    const files = { ...calculator, "fixer.sh": `cat > /dev/null\n${deed}\n` }
    await using folder = new WorkFolder(service(), files)
    folder.write(listName, fixList("001_calc", check))
    folder.commitAll()

    const run = await folder.run(...fix, listName)

    expect(run.exitCode).toBe(1)
    expect(resultsIn(folder)).toEqual(["FAILED"])
    expect(run.stdout).toContain("refused: the fixer has changed what it must not change")
    expect(folder.git("branch", "--list", "cc-executor/*")).toBe("")
  })

  test("but may change the one test that the fix is about", async () => {
    const verification = "grep -q negative tests/add.sh"
    const deed = "cat > /dev/null; echo '# negative' >> tests/add.sh\n"
    await using folder = new WorkFolder(service(), { ...calculator, "fixer.sh": deed })
    const about = { id: 1, severity: "minor", file: "tests/add.sh", verification }
    folder.write(listName, fixList("001_calc", [about]))

    const run = await folder.run(...fix, listName)

    expect([run.stdout, run.exitCode]).toEqual([expect.stringContaining("FIXED"), 0])
  })

  test("where a fix is about a folder of tests, or its request protects that file", async () => {
    const deed = "cat > /dev/null; echo '# negative' >> tests/add.sh\n"
    const verification = "grep -q negative tests/add.sh"
    for (const file of ["tests", "tests/add.sh"]) {
      await using folder = new WorkFolder(service(), { ...calculator, "fixer.sh": deed })
      folder.write(
        listName,
        fixList("001_calc", [{ id: 1, severity: "minor", file, verification }]),
      )
      const request = '---\nreview: "001_calc"\nprotect: [tests/]\n---\n'
      if (file !== "tests") folder.write("orchestrator/001_calc_review_request.md", request)

      const run = await folder.run(...fix, listName)

      expect(run.stdout).toContain("refused: the fixer has changed what it must not change")
    }
  })

  test("and what a check cannot fail at is nothing", async () => {
    const always = [{ id: 1, severity: "minor", verification: "test -d / || false" }]
    await using folder = new WorkFolder(service(), { ...calculator, "fixer.sh": fixer })
    folder.write(listName, fixList("001_calc", always))

    const run = await folder.run(...fix, listName)

    expect(run.exitCode).toBe(1)
    expect(resultsIn(folder)).toEqual(["FAILED"])
    expect(run.stdout).toContain("it was never seen to fail")
  })
})

describe("a verification in prose", () => {
  const prose = [{ id: 7, severity: "major", verification: "touch executed; it should add." }]

  test("is not run, and asked for as a command, whose author is on record", async () => {
    const mend = "cat > /dev/null; printf 'echo 5' > calc.sh\n"
    await using folder = new WorkFolder(service(), { ...calculator, "fixer.sh": mend })
    folder.write(listName, fixList("001_calc", prose))

    const asked = await folder.run(...fix, listName)
    const none = folder.has("executor/001_calc_fixes.json.intoto.jsonl")
    const as = ["--run", "sh tests/add.sh", "--by", "Ada"]
    const given = await folder.run("review", "verification", listName, "7", ...as)
    const run = await folder.run(...fix, listName)

    expect(asked.exitCode).toBe(1)
    expect(asked.stdout).toContain("7 has a verification in prose: a command is needed")
    expect(asked.stdout).toContain("cc-executor review verification")
    expect(none).toBe(false)
    expect(folder.has("executed")).toBe(false)
    expect(given.stdout).toBe("7: `sh tests/add.sh`, by Ada\n")
    expect(run.exitCode).toBe(0)
    expect(resultsIn(folder)).toEqual(["FIXED"])
    const [line = ""] = folder.ledger(listName)
    const statement = Buffer.from(JSON.parse(line).payload, "base64").toString()
    expect(statement).toContain(
      'sh tests/add.sh (for \\"touch executed; it should add.\\", by Ada)',
    )
  })

  test("is asked for on a terminal, where whoever is there may also leave it open", async () => {
    const more = [...prose, { id: 8, severity: "minor", verification: "Look at it." }]
    const mend = "cat > /dev/null; printf 'echo 5' > calc.sh\n"
    await using folder = new WorkFolder(service(), { ...calculator, "fixer.sh": mend })
    folder.write(listName, fixList("001_calc", more))
    const argv = [executable, "review", "fix", "--fixer", "sh fixer.sh"]
    const env = folder.env({ TERM: "xterm", NO_COLOR: "1" })
    const size = { cols: 100, rows: 24 }
    await using terminal = new Terminal([...argv, `${folder.path}/${listName}`], env, size)

    await terminal.untilShows(/Fix 7 [^]*touch executed[^]*leave it open\): /)
    terminal.type("sh tests/add.sh\r")
    await terminal.untilShows(/Fix 8 [^]*Look at it[^]*leave it open\): /)
    terminal.type("\r")

    expect(await terminal.exited).toBe(1)
    expect(resultsIn(folder)).toEqual(["FIXED", undefined])
    expect(folder.read(listName)).toContain(`"by": "${userInfo().username}"`)
  })

  test("gets no command from the fixer, and another author makes another check", async () => {
    const { stateDir } = service()
    const about = `--state-dir "${stateDir}" $HERE/${listName} 7 --run true`
    const ask = `"$PROGRAM" review verification ${about}`
    await using folder = new WorkFolder(service(), calculator)
    const deed = `cat > /dev/null; printf 'echo 5' > calc.sh; ${ask} > "$HERE/said" 2>&1\nexit 0\n`
    folder.write("fixer.sh", deed.replaceAll("$HERE", folder.path))
    folder.write(listName, fixList("001_calc", prose))
    await folder.run(
      "review",
      "verification",
      listName,
      "7",
      "--run",
      "sh tests/add.sh",
      "--by",
      "a",
    )

    await folder.run(...fix, listName)
    const text = folder.read(listName)
    folder.write(listName, text.replace('"by": "a"', '"by": "b"'))
    const forged = await folder.run("verify", listName)

    expect(folder.read("said")).toContain("must not judge or accept works")
    expect(text).toContain('"status": "FIXED"')
    expect(forged.exitCode).toBe(1)
  })
})

describe("a list of the first generation", () => {
  test("is read with its own words, and its review_id is not believed", async () => {
    const fixes = [
      { id: 1, severity: "BLOCKER", test: "sh tests/add.sh", category: "logic" },
      { id: "N-2", severity: "NIT", test: "grep -q '^#!' calc.sh", line: "1-2" },
      { id: 3, severity: "MAJOR", test: "Run the tests", line: [1, 2] },
    ]
    const text = fixList("003_other", fixes)
    await using folder = new WorkFolder(service(), { ...calculator, "fixer.sh": fixer })
    folder.write("executor/outgoing/0017_calc_fixes.json", text.replaceAll('"fix":', '"note":'))
    folder.write("fixer.sh", "cat > /dev/null; sed -i s/-/+/ calc.sh\n")

    const run = await folder.run(...fix, "executor/outgoing/0017_calc_fixes.json")

    expect(run.exitCode).toBe(1)
    expect(resultsIn(folder, "executor/outgoing/0017_calc_fixes.json")).toEqual([
      "FIXED",
      "NO_CHANGE_NEEDED",
      undefined,
    ])
    expect(run.stderr).toContain(
      'its review_id is "003_other", and its name says 0017_calc: the name counts',
    )
    expect(run.stdout).toContain("3 has a verification in prose")
    const next = await folder.run("review", "request", "calc", "calc.sh")
    expect(next.stdout).toContain("orchestrator/018_calc_review_request.md")
    expect(folder.read("orchestrator/018_calc_review_request.md")).toContain(
      'previous: "executor/outgoing/0017_calc_fixes.json"',
    )
  })

  test("has results that nothing attests, until they are seen", async () => {
    const claimed = { id: 1, severity: "NIT", test: "grep -q '^#!' calc.sh", result: "done" }
    await using folder = new WorkFolder(service(), { ...calculator, "fixer.sh": fixer })
    folder.write(listName, fixList("001_calc", [claimed]))

    const before = await folder.run("verify", listName)
    const adopted = await folder.json("adopt", listName)
    const kept = folder.read(listName)
    await folder.run(...fix, listName)

    expect(before.exitCode).toBe(1)
    expect(before.stdout).toContain("1 has a result, but nothing attests that")
    expect(adopted["claims"]).toMatchObject([{ item: "1" }])
    expect(kept).toContain('"result": "done"')
    expect(resultsIn(folder)).toEqual(["NO_CHANGE_NEEDED"])
    expect((await folder.run("verify", listName)).exitCode).toBe(0)
  })

  test("that is no JSON is refused with line and column, and left as it is", async () => {
    const text =
      '{\n  "review_id": "014b_calc",\n  "fixes": [\n    {"id": 1 "severity": "minor"}\n  ]\n}\n'
    await using folder = new WorkFolder(service(), { ...calculator, "fixer.sh": fixer })
    folder.write("executor/014b_calc_fixes.json", text)

    const run = await folder.run(...fix, "executor/014b_calc_fixes.json")

    expect(run.exitCode).toBe(1)
    expect(run.stderr).toContain("014b_calc_fixes.json, line 4, column 14: here should be `,`")
    expect(folder.read("executor/014b_calc_fixes.json")).toBe(text)
    expect(folder.has("executor/014b_calc_fixes.json.intoto.jsonl")).toBe(false)
  })
})
