import { describe, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Glob } from "bun"
import { byScale } from "../support/scale.ts"
import { sharedService } from "../support/shared-service.ts"
import { until } from "../support/until.ts"
import { WorkFolder } from "../support/work-folder.ts"

const service = sharedService()

/** An actor that fails as often as a file says, and counts there. */
const actor = `cat > prompt.txt
left=$(cat "$COUNTER" 2>/dev/null || echo 0)
if [ "$left" -gt 0 ]; then echo $((left - 1)) > "$COUNTER"; exit 1; fi
echo done > out.txt
`

function promptFile(more: string, agent = "sh actor.sh", body = "# Do it\n"): string {
  return `---\nname: p\nagent: "${agent}"\n${more}---\n${body}`
}

const checks = "checks: [{run: grep -q done out.txt, red: base}]\n"
const recovery = `recovery:
  - {run: "test -s out.txt", red: base}
  - {run: "test -e out.txt", red: base}
  - {run: "test -f out.txt", red: base}
`

describe("a prompt that fails once", () => {
  test("graduates with the tenth success, and not before", async () => {
    await using folder = new WorkFolder(service(), { "actor.sh": actor })
    const counter = join(folder.path, "../counter")
    await Bun.write(counter, "1")
    folder.write("p.md", promptFile(checks + recovery, `COUNTER=${counter} sh actor.sh`))

    const first = await folder.run("prompt", "run", "-n", "10", "p.md")
    const early = await folder.run("prompt", "graduate", "p.md")
    const more = await folder.run("prompt", "run", "p.md")
    const graduated = await folder.run("prompt", "graduate", "p.md")
    const verified = await folder.run("verify", "core/p.md")
    const [archive = ""] = readdirSync(join(folder.path, "archive"))
    const metrics = JSON.parse(folder.read(`archive/${archive}/metrics.json`))

    expect(first.exitCode).toBe(1)
    expect(first.stdout).toContain("9 of 10 passed")
    expect(early.exitCode).toBe(1)
    expect(early.stdout).toContain("9:1, which needs 10 successes: 1 more")
    expect(folder.has("p.md")).toBe(false)
    expect(more.exitCode).toBe(0)
    expect(graduated.exitCode).toBe(0)
    expect(folder.ledger("core/p.md")).toHaveLength(11)
    expect(metrics).toMatchObject({ success: 10, failure: 1, trials: 11 })
    expect(folder.ledger(`archive/${archive}/p.md`)).toHaveLength(11)
    expect(verified.stdout).toContain("VERIFIED")
    expect(verified.exitCode).toBe(0)
    expect(folder.leftovers).toEqual([])
  })
})

describe("a prompt that nothing is wrong with", () => {
  const honest: [what: string, more: string, agent: string][] = [
    [
      "has its modules installed by `setup`",
      'setup: "mkdir -p node_modules && touch node_modules/x"\n' +
        'checks: ["test -e node_modules/x && test -e out.txt"]\n',
      "touch out.txt",
    ],
    ["has a check with a pipe", 'checks: ["cat out.txt | grep -q done"]\n', "echo done > out.txt"],
    ["changes what its check looks at", 'checks: ["grep -q done a.txt"]\n', "echo done > a.txt"],
    [
      "writes its own tests, and what they test",
      'checks: ["sh tests/a.test.sh"]\n',
      "mkdir tests; echo 'test -f out.txt' > tests/a.test.sh; touch out.txt",
    ],
    [
      "fills in its code block",
      'checks: ["grep -qx print p.md"]\nprotect: []\n',
      "sed -i 's/^TODO$/print/' p.md",
    ],
  ]

  test.each(honest)("passes where it %s", async (_, more, agent) => {
    const body = "# P\n\n### **Implementation Code Block**\n\n```python\nTODO\n```\n\n# End\n"
    await using folder = new WorkFolder(service(), { "a.txt": "open\n" })
    folder.write("p.md", promptFile(more, agent, body))
    folder.commitAll()

    const { stdout, stderr, exitCode } = await folder.run("prompt", "run", "p.md")

    expect(stderr).toContain("PASSED")
    expect(stdout).toContain("1 of 1 passed")
    expect(exitCode).toBe(0)
    expect(folder.leftovers).toEqual([])
  })

  test("is not blamed for a service that is not there", async () => {
    const needs = 'needs: ["http://127.0.0.1:9"]\n'
    await using folder = new WorkFolder(service(), { "p.md": promptFile(needs + checks, "true") })

    const status = await folder.json("prompt", "run", "p.md")

    expect(status).toMatchObject({ success: 0, failure: 0, broken: 1, exitCode: 1 })
    expect(JSON.stringify(status["run"])).toContain("http://127.0.0.1:9 is not reachable")
  })
})

describe("several runners of one prompt", () => {
  const runners = byScale({ short: 3, full: 8, long: 8 })
  const trials = byScale({ short: 2, full: 5, long: 5 })

  test("number their trials in one row, while a person edits it", async () => {
    await using folder = new WorkFolder(service(), {
      "p.md": promptFile(checks, "echo done > out.txt"),
    })
    folder.commitAll()
    const runs = Array.from({ length: runners }, () =>
      folder.run("prompt", "run", "-n", `${trials}`, "-j", "2", "p.md"),
    )
    const all = Promise.all(runs)
    let edits = 0
    const isOver = () => all.then(() => true)
    while (!(await Promise.race([isOver(), Bun.sleep(50)]))) {
      edits += 1
      Bun.spawnSync(["sh", "-c", `echo 'Line ${edits}.' >> p.md`], { cwd: folder.path })
      expect(folder.read("p.md")).toStartWith("---\nname: p\n")
    }
    const ended = await all
    await folder.run("render", "p.md")

    expect(ended.filter(({ exitCode }) => exitCode !== 0)).toEqual([])
    const sequences = folder.ledger("p.md").map(sequenceIn)
    expect(sequences).toEqual(Array.from({ length: runners * trials }, (_, index) => index + 1))
    for (let line = 1; line <= edits; line += 1) {
      expect(folder.read("p.md").split("\n")).toContain(`Line ${line}.`)
    }
    expect((await folder.run("verify", "p.md")).exitCode).toBe(0)
    expect(folder.leftovers).toEqual([])
  })
})

function sequenceIn(line: string): number {
  const statement = JSON.parse(Buffer.from(JSON.parse(line).payload, "base64").toString("utf8"))
  return statement.predicate.trial.announcement.sequence
}

test("a run that is interrupted ends its trial, and tells the verdict", async () => {
  const text = promptFile(checks, "touch ../acting; sleep 600")
  await using folder = new WorkFolder(service(), { "p.md": text })
  const run = folder.start("prompt", "run", "-n", "3", "p.md")
  const isActing = () =>
    existsSync(folder.places) && [...new Glob("*/acting").scanSync(folder.places)].length > 0
  await until("the act runs", isActing)

  run.kill("SIGINT")
  const [stdout, stderr] = await Promise.all([run.stdout.text(), run.stderr.text()])

  expect(await run.exited).toBe(130)
  expect(stderr).toContain("trial 1: FAILED – act act: it failed: it was stopped: client")
  expect(stdout).toContain("0 of 3 passed, stopped: it was interrupted")
  expect((await folder.run("verify", "p.md")).exitCode).toBe(0)
  expect(folder.leftovers).toEqual([])
})

describe("a run in the background", () => {
  test("is an execution like any other", async () => {
    await using folder = new WorkFolder(service(), {
      "p.md": promptFile(checks, "echo done > out.txt"),
    })

    const id = (await folder.run("prompt", "run", "-d", "p.md")).stdout.trim()
    const waited = await folder.run("wait", id)
    const { stdout } = await folder.run("logs", id)

    expect(stdout).toContain("1 of 1 passed")
    expect(waited.exitCode).toBe(0)
  })
})

test("a new prompt explains itself, and lacks nothing", async () => {
  await using folder = new WorkFolder(service())

  const made = await folder.run("prompt", "new", "P")
  const checked = await folder.run("prompt", "check", "P.md")
  const again = await folder.run("prompt", "new", "P")

  expect(made.exitCode).toBe(0)
  expect(checked.stdout).toContain("has all that it needs")
  expect(again.stderr).toContain("exists already")
  expect(existsSync(join(folder.path, "P.md"))).toBe(true)
  expect(readFileSync(join(folder.path, "P.md"), "utf8")).toContain("graduation")
})
