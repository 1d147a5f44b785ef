import { describe, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { onlyInFull } from "../support/scale.ts"
import { sharedService } from "../support/shared-service.ts"
import { resultsIn, suiteFile, testsIn } from "../support/suites.ts"
import { testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"
import { WorkFolder } from "../support/work-folder.ts"

const service = sharedService()

describe("a suite of commands", () => {
  const commands = {
    simple: {
      description: "Quick ones",
      timeout: 60,
      tests: [
        { id: "found", command: "echo 'All is WELL'", expected_patterns: ["all is well"] },
        { id: "in-stderr", command: "echo oops >&2", expected_patterns: ["oops"] },
        { id: "only-in-command", command: "true NEVER_SAID", expected_patterns: ["NEVER_SAID"] },
        { id: "one-of-two", command: "echo one", expected_patterns: ["one", "two"] },
        { id: "wrong-exit", command: "echo fine; exit 3", expected_patterns: ["fine"] },
        { id: "no-program", command: "no-such-program-anywhere" },
      ],
    },
    slow: {
      timeout: 0.4,
      tasks: [
        { id: "too-slow", command: "echo begun; sleep 60", expected_patterns: ["begun"] },
        { id: "in-time", command: "sleep 0.01", verification: { timeout: 60 } },
        {
          id: "stalled",
          command: "sleep 60",
          verification: { stall_timeout: 0.3, expect_non_zero_exit: true, timeout: 60 },
        },
      ],
    },
  }

  test("is judged by what ran, and reported in three forms", async () => {
    await using folder = new WorkFolder(service(), { "s.json": suiteFile(commands) })

    const document = await folder.json("suite", "run", "-j", "4", "s.json")

    expect(resultsIn(document)).toEqual({
      found: "passed",
      "in-stderr": "passed",
      "only-in-command": "failed",
      "one-of-two": "failed",
      "wrong-exit": "failed",
      "no-program": "failed",
      "too-slow": "timed-out",
      "in-time": "passed",
      stalled: "timed-out",
    })
    expect(document).toMatchObject({ exitCode: 1, passed: false, counts: { passed: 3, tests: 9 } })
    const [, , , { reasons, execution_id } = { reasons: [], execution_id: "" }] = testsIn(document)
    expect(reasons).toEqual(['the pattern "two" stands nowhere in what it wrote'])
    expect((await folder.run("verify", execution_id ?? "")).exitCode).toBe(0)
    const text = folder.read("reports/s/report.txt")
    expect(text).toContain("3 of 9 tests passed (33.3 %)")
    expect(text).toContain("TIMED-OUT slow/too-slow:\n  its time was over")
    const junit = folder.read("reports/s/junit.xml")
    expect(junit).toContain('<testsuites name="S1" tests="9" failures="6" errors="0"')
    expect(junit).toContain('<testsuite name="slow" tests="3" failures="2" errors="0"')
    const page = folder.read("reports/s/index.html")
    expect(page.match(/class="badge passed"/g)).toHaveLength(6)
    expect(page).not.toMatch(/<(?:script|link|img|iframe)\b|@import|url\(|\bsrc=/)
  })

  test("runs the categories that are asked for, and exits with 0 where all passes", async () => {
    const tests = [{ id: "t", command: "true" }]
    const suite = suiteFile({
      a: { tests },
      b: { tests },
      c: { tests: [{ id: "t", command: "false" }] },
    })
    await using folder = new WorkFolder(service(), { "s.json": suite })

    const two = await folder.run("suite", "run", "s.json", "--categories", "b,a", "--report", "out")
    const third = await folder.run("suite", "run", "s.json", "--categories", "c")
    const unknown = await folder.run("suite", "run", "s.json", "--categories=d")

    expect(two.exitCode).toBe(0)
    expect(two.stdout).toContain("2 of 2 tests passed (100 %)")
    expect(two.stdout).toMatch(/^a\/t +passed/m)
    expect(two.stdout).not.toContain("c/t")
    expect(two.stdout).toContain("The same as a page: out/index.html")
    expect(third.exitCode).toBe(1)
    expect([unknown.exitCode, unknown.stderr]).toEqual([
      1,
      expect.stringContaining("There is no category d: there are a, b, c."),
    ])
  })

  test("without tests has not passed", async () => {
    await using folder = new WorkFolder(service(), { "s.json": suiteFile({ a: { tests: [] } }) })

    expect(await folder.json("suite", "run", "s.json")).toMatchObject({
      exitCode: 1,
      passed: false,
    })
  })

  test("can be run several times at once", async () => {
    const tests = Array.from({ length: 20 }, (_, index) => ({ id: index, command: "true" }))
    await using folder = new WorkFolder(service(), { "s.json": suiteFile({ a: { tests } }) })
    const runs = Array.from({ length: 4 }, () => folder.run("suite", "run", "-j", "4", "s.json"))

    const ended = await Promise.all(runs)

    expect(
      ended.map(({ exitCode, stderr }) => [exitCode, stderr.match(/passed/g)?.length]),
    ).toEqual(runs.map(() => [0, 20]))
    expect(folder.read("reports/s/report.txt")).toContain("20 of 20 tests passed")
    expect(readdirSync(join(folder.path, "reports/s")).toSorted()).toEqual([
      "index.html",
      "junit.xml",
      "report.txt",
    ])
  })

  test("that cannot be read is told with its lines", async () => {
    await using folder = new WorkFolder(service(), { "s.json": '{"task_list_id": "S",\n}' })

    const { stderr, exitCode } = await folder.run("suite", "run", "s.json")

    expect(exitCode).toBe(1)
    expect(stderr).toContain("s.json is no suite:\n  line 1, column")
    expect(folder.has("reports")).toBe(false)
  })

  test("that is interrupted leaves nothing running, and reports what it knows", async () => {
    const tests = [
      { id: "first", command: "true" },
      { id: "running", command: "sleep 600" },
      { id: "waiting", command: "true" },
    ]
    await using folder = new WorkFolder(service(), { "s.json": suiteFile({ a: { tests } }) })
    const run = folder.start("suite", "run", "s.json")
    const running = async () =>
      (await folder.run("ps", "-q", "--label", "test=a/running")).stdout.trim() !== ""
    await until("the second test runs", running)

    run.kill("SIGINT")
    const stdout = await run.stdout.text()

    expect(await run.exited).toBe(130)
    expect(stdout).toMatch(/^a\/first +passed/m)
    expect(stdout).toMatch(/^a\/running +unfinished/m)
    expect(stdout).toMatch(/^a\/waiting +not-run/m)
    expect(await running()).toBe(false)
    expect(folder.read("reports/s/report.txt")).toBe(
      stdout.slice(0, stdout.indexOf("\nThe same as a page")),
    )
  })

  testUnless(
    onlyInFull, // its lease takes ten seconds
    "whose runner is killed leaves nothing running, and a report that does not call it passed",
    async () => {
      const tests = [{ id: "running", command: "sleep 600" }]
      await using folder = new WorkFolder(service(), { "s.json": suiteFile({ a: { tests } }) })
      const run = folder.start("suite", "run", "s.json")
      const running = async () =>
        (await folder.run("ps", "-q", "--label", "test=a/running")).stdout.trim() !== ""
      await until("the test runs", async () => folder.has("reports/s/index.html") && running())

      run.kill("SIGKILL")
      await run.exited
      await until("the test is ended", async () => !(await running()), 30_000)

      expect(folder.read("reports/s/report.txt")).toContain("0 of 1 tests passed")
    },
    60_000,
  )
})
