import { describe, expect, test } from "bun:test"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { calculator, fixer, fixList, type GivenFix, reviewer } from "../support/review-files.ts"
import { fewIfShort } from "../support/scale.ts"
import { sharedService } from "../support/shared-service.ts"
import { WorkFolder } from "../support/work-folder.ts"

const service = sharedService()

const one: GivenFix = { id: 1, severity: "critical", verification: "sh tests/add.sh" }
const two: GivenFix = { id: 2, severity: "minor", verification: "grep -q MIT calc.sh" }

/** A project, and a place outside of it where its reviewer finds what it is to deliver. */
class Project extends WorkFolder {
  readonly outside = join(this.path, "..", "outside")

  static reviewed(script: string, files: Record<string, string> = calculator): Project {
    const project = new Project(service(), { ...files, "fixer.sh": fixer })
    mkdirSync(project.outside)
    project.write("reviewer.sh", script.replaceAll("$OUTSIDE", project.outside))
    return project
  }

  delivers(name: string, text: string): void {
    writeFileSync(join(this.outside, name), text)
  }

  async request(...more: string[]): Promise<string> {
    const agents = ["--reviewer", "sh reviewer.sh", "--fixer", "sh fixer.sh"]
    const made = await this.run("review", "request", ...agents, ...more, "calc", "calc.sh")
    if (made.exitCode !== 0) throw new Error(made.stderr)
    return made.stdout.trim()
  }

  get prompts(): string[] {
    const names = readdirSync(this.outside).filter((name) => name.startsWith("prompt"))
    return names.toSorted().map((name) => readFileSync(join(this.outside, name), "utf8"))
  }
}

describe("a review", () => {
  test("is requested with context, delivered with what is on record, and put right", async () => {
    await using project = Project.reviewed(reviewer)
    project.commitAll()
    project.delivers("list.json", fixList("001_calc", [{ ...one, id: 2 }]))
    project.write("for-reviewer.md", "It adds numbers.\n")
    project.write("for-fixer.md", "Keep it POSIX.\n")
    const context = ["--reviewer-context", "for-reviewer.md", "--fixer-context", "for-fixer.md"]

    const request = await project.request("--check", "sh calc.sh 2 3", ...context)
    const asked = await project.run("resume-work")
    const run = await project.run("review", "run", request)
    const delivered = await project.run("resume-work")
    const open = await project.json("review", "status", "executor/001_calc_fixes.json")
    const feedback = project.read("executor/001_calc_review_feedback.md")
    const fixed = await project.run("review", "fix", "executor/001_calc_fixes.json")

    expect(request).toEndWith("orchestrator/001_calc_review_request.md")
    expect([run.stderr, run.exitCode]).toEqual([expect.stringContaining("trial 1: PASSED"), 0])
    expect(project.prompts[0]).toContain("It adds numbers.")
    expect(project.prompts[0]).not.toContain("Keep it POSIX.")
    expect(feedback).toMatch(
      /Execution ([a-z2-7]{26}) ended[^]*\| \1 \| `.*sh calc.sh 2 3` \| exit 0/,
    )
    expect(fixed.exitCode).toBe(0)
    expect(project.read("executor/001_calc_fixes.json")).toContain('"status": "FIXED"')
    expect(asked.stdout).toContain("go on: cc-executor review run orchestrator/001_calc_review")
    expect(delivered.stdout).toContain("0 of 1 fixes are done")
    expect(delivered.stdout).toContain("go on: cc-executor review fix executor/001_calc_fixes.json")
    expect(delivered.stdout).not.toContain("review run")
    expect(open["tasks"]).toMatchObject([{ id: "2", severity: "critical", status: null }])
    expect(await project.run("verify", request)).toMatchObject({ exitCode: 0 })
    expect(project.leftovers).toEqual([])
  })

  test("is also delivered for a request of the first generation, once it is adopted", async () => {
    await using project = Project.reviewed(reviewer)
    project.delivers("list.json", fixList("0017_calc", []))
    const request = "orchestrator/incoming/0017_calc_review_request.md"
    project.write(request, "# Review Request\n\nPlease look at `calc.sh`.\n")

    const before = await project.run("review", "run", request)
    await project.run("adopt", request)
    const run = await project.run("review", "run", "--reviewer", "sh reviewer.sh", request)

    expect(before.stderr).toContain("`cc-executor adopt` makes one of a request")
    expect(project.read(request)).toContain('---\nreview: "0017_calc"\n---\n\n# Review Request')
    expect(run.exitCode).toBe(0)
    expect(project.has("executor/0017_calc_fixes.json")).toBe(true)
  })

  test("that is delivered already is not delivered again, and keeps its number", async () => {
    await using project = Project.reviewed(reviewer)
    project.delivers("list.json", fixList("001_calc", []))
    const request = await project.request()
    await project.run("review", "run", request)

    const again = await project.run("review", "run", request)
    const both = await Promise.all([project.request(), project.request()])

    expect(again.exitCode).toBe(1)
    expect(again.stderr).toContain("has been delivered already")
    expect(both.map((path) => path.slice(-26)).toSorted()).toEqual([
      "002_calc_review_request.md",
      "003_calc_review_request.md",
    ])
  })

  test("in broken JSON gets one retry, which is told the line and the column", async () => {
    const whole = fixList("001_calc", [one])
    const broken = whole.replace('"component": "calc",', '"component": "calc"')
    await using project = Project.reviewed(
      reviewer.replace("list.json", 'list-$(ls "$OUTSIDE" | grep -c prompt).json'),
    )
    project.delivers("list-1.json", broken)
    project.delivers("list-2.json", fixList("001_calc", [one]))

    const run = await project.json("review", "run", await project.request())

    expect(run).toMatchObject({
      exitCode: 0,
      trials: [{ verdict: "FAILED" }, { verdict: "PASSED" }],
    })
    expect(project.prompts).toHaveLength(2)
    expect(project.prompts[1]).toContain(
      "001_calc_fixes.json, line 4, column 3: here should be `,`",
    )
    expect(project.prompts[1]).toContain("executor/001_calc_fixes.json.previous")
    expect(project.ledger("orchestrator/001_calc_review_request.md")).toHaveLength(2)
    expect(readdirSync(join(project.path, "executor")).toSorted()).toEqual([
      "001_calc_fixes.json",
      "001_calc_review_feedback.md",
    ])
  })

  test("that was broken may say again what it has seen in its first attempt", async () => {
    const keeps = 'if [ -e "$REVIEW_FEEDBACK.previous" ]; then\n'
    const again =
      'cp "$REVIEW_FEEDBACK.previous" "$REVIEW_FEEDBACK"; cp whole.json "$REVIEW_FIXES"\n'
    await using project = Project.reviewed(`${keeps}${again}exit 0; fi\n${reviewer}`)
    project.delivers("list.json", "[")
    project.write("whole.json", fixList("001_calc", []))

    const run = await project.run(
      "review",
      "run",
      await project.request("--check", "sh calc.sh 2 3"),
    )

    expect([run.stdout, run.exitCode]).toEqual([expect.stringContaining("_fixes.json"), 0])
  })

  // All that can be wrong with a list is known by pure tests.
  const wrongLists: [what: string, list: string, said: string][] = [
    [
      "whose form is wrong",
      fixList("001_calc", [{ ...one, severity: "bad" }]),
      "fixes → 0 → severity",
    ],
    ["of another review", fixList("009_calc", [one]), 'review_id: must be "001_calc"'],
    [
      "that says what became of it",
      fixList("001_calc", [{ ...one, result: {} }]),
      "result: is not",
    ],
    ["that leads outside", fixList("001_calc", [{ ...one, file: "../x" }]), "file: must be a path"],
    ["with an id twice", fixList("001_calc", [one, one]), "the id 1 stands here twice"],
  ]
  test.each(fewIfShort(2, wrongLists))(
    "%s is refused after that, and nothing of it is kept",
    async (_, list, said) => {
      await using project = Project.reviewed(reviewer)
      project.delivers("list.json", list)

      const run = await project.run("review", "run", await project.request())

      expect(run.exitCode).toBe(1)
      expect(run.stdout).toContain("The review is refused:")
      expect(run.stdout).toContain(said)
      expect(project.prompts).toHaveLength(2)
      expect(project.has("executor")).toBe(false)
      expect(project.leftovers).toEqual([])
    },
  )

  test.each([
    ["edits the code", "sed -i s/-/+/ calc.sh"],
    ["adds a file", "echo x > helper.sh"],
    ["removes a test", "rm tests/divide.sh"],
    ["edits its own request", 'echo "protect: []" >> "$WORK_FILE"'],
  ])("whose reviewer %s is refused, with git and without", async (_, deed) => {
    for (const hasGit of [true, false]) {
      await using project = Project.reviewed(`${reviewer}${deed}\n`)
      project.delivers("list.json", fixList("001_calc", [one]))
      if (hasGit) project.commitAll()

      const run = await project.run("review", "run", await project.request())

      expect(run.exitCode).toBe(1)
      expect(run.stdout).toContain("it must not edit what it reviews")
      expect(project.prompts).toHaveLength(1)
      expect(project.has("executor")).toBe(false)
    }
  })

  test("whose reviewer does not finish is refused, and says so", async () => {
    await using project = Project.reviewed("exit 3\n")

    const run = await project.run("review", "run", await project.request())

    expect(run.exitCode).toBe(1)
    expect(run.stdout).toContain("the reviewer has not finished: act act: it failed: exit 3")
  })
})

describe("what a feedback says of executions is compared with the record", () => {
  const said = (text: string) => `${reviewer}printf '${text}' "$id" > "$REVIEW_FEEDBACK"\n`
  const own = "Execution %s ended with exit 0.\\n"
  test.each([
    ["an exit that was another", said("Execution %s ended with exit 1.\\n"), "did not exit with 1"],
    ["a log that was not printed", said(`${own}\\n~~~\\nALL PASSED\\n~~~\\n`), '"ALL PASSED"'],
    [
      "no execution",
      said("All is well. %.0s\\n"),
      "names no execution that has run the usage check",
    ],
    [
      "one that is not there",
      said(`${own} Also aaaaaaaaaaaaaaaaaaaaaaaaaa.\\n`),
      "there is no execution aaaaaaaaaaaaaaaaaaaaaaaaaa",
    ],
    [
      "one that ran elsewhere",
      `${said(own)}other=$("$PROGRAM" run -d --cwd / -- sh calc.sh 2 3)
"$PROGRAM" wait "$other"; sed -i "s/$id/$other/" "$REVIEW_FEEDBACK"\n`,
      "ran in /, and not in what is reviewed",
    ],
  ])("%s", async (_, script, why) => {
    await using project = Project.reviewed(script)
    project.delivers("list.json", fixList("001_calc", [one]))

    const run = await project.run(
      "review",
      "run",
      await project.request("--check", "sh calc.sh 2 3"),
    )

    expect([run.stdout, run.exitCode]).toEqual([expect.stringContaining(why), 1])
    expect(project.prompts).toHaveLength(2)
    expect(project.has("executor")).toBe(false)
  })
})

describe("a second round", () => {
  test("verifies the fixes of the first, and finds the one that was undone", async () => {
    await using project = Project.reviewed(reviewer)
    project.delivers("list.json", fixList("001_calc", [one, two]))
    const mends = "1) sed -i s/-/+/ calc.sh ;; 2) echo '# MIT' >> calc.sh ;;"
    project.write("fixer.sh", `cat > /dev/null\ncase $WORK_ITEM in ${mends} esac\n`)
    await project.run("review", "run", await project.request())
    project.commitAll()
    const first = await project.run("review", "fix", "executor/001_calc_fixes.json")
    project.git("merge", "-q", "cc-executor/001_calc_fixes")
    project.write("calc.sh", project.read("calc.sh").replace("+", "-"))
    project.delivers("list.json", fixList("002_calc", []))

    const second = await project.run("review", "run", await project.request())
    const fixes = JSON.parse(project.read("executor/002_calc_fixes.json")).fixes
    const before = JSON.parse(project.read("executor/001_calc_fixes.json")).fixes

    expect(first.exitCode).toBe(0)
    expect([second.stderr, second.exitCode]).toEqual([expect.anything(), 0])
    expect(second.stdout).toContain("Of the round before, 1 fix holds, 1 was undone:")
    expect(second.stdout).toContain("1 has been undone: fault 1")
    expect(project.prompts[1]).toContain("- done once, and undone since: 1 fault 1")
    expect(project.prompts[1]).toContain("- done: 2 fault 2")
    expect(before[0].result).toMatchObject({
      status: "FAILED",
      why: expect.stringContaining("undone since trial 1"),
    })
    expect(before[1].result).toMatchObject({ status: "FIXED", verdict: "PASSED" })
    expect(fixes).toMatchObject([
      {
        id: 1,
        severity: "critical",
        reopens: "001_calc#1",
        verification: "sh tests/add.sh",
      },
    ])
    const third = await project.run("review", "fix", "executor/002_calc_fixes.json")
    expect(third.exitCode).toBe(0)
    expect(project.leftovers).toEqual([])
  })
})
