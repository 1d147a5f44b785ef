import { describe, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { countTests, joinReports, namedTests } from "../../scripts/junit-report.ts"
import { filesOf, suiteNamed, suiteNames } from "../../scripts/test-suites.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

describe("a report that bun test wrote", () => {
  test("is counted, and what failed or was skipped is named", async () => {
    using folder = temporaryFolder()
    const report = join(folder.path, "junit.xml")
    writeFileSync(
      join(folder.path, "some.test.ts"),
      `import { describe, expect, test } from "bun:test"
       describe("a <situation>", () => {
         test("holds", () => expect(1).toBe(1))
         test("fails, \\"quoted\\" & so on", () => expect(1).toBe(2))
         test.skip("waits", () => undefined)
       })`,
    )
    const reporter = ["--reporter=junit", `--reporter-outfile=${report}`]
    const run = Bun.spawn([process.execPath, "test", ...reporter], {
      cwd: folder.path,
      stdio: ["ignore", "ignore", "ignore"],
    })
    expect(await run.exited).toBe(1)

    expect(await countTests(report)).toEqual({ passed: 1, failed: 1, skipped: 1 })
    expect(await namedTests(report, "failure")).toEqual(['a <situation> > fails, "quoted" & so on'])
    expect(await namedTests(report, "skipped")).toEqual(["a <situation> > waits"])
  })

  test("is nothing when it is not there", async () => {
    expect(await countTests("/no/report.xml")).toEqual({ passed: 0, failed: 0, skipped: 0 })
  })
})

test("reports are joined into one", async () => {
  using folder = temporaryFolder()
  const paths = ["one.xml", "two.xml"].map((name) => join(folder.path, name))
  for (const [index, path] of paths.entries()) {
    const suite = `<testsuite><testcase name="${index}"><skipped /></testcase></testsuite>`
    writeFileSync(
      path,
      `<testsuites tests="3" failures="${index}" skipped="1">${suite}</testsuites>`,
    )
  }
  const joined = join(folder.path, "joined.xml")
  writeFileSync(joined, await joinReports([...paths, join(folder.path, "missing.xml")]))

  expect(await countTests(joined)).toEqual({ passed: 3, failed: 1, skipped: 2 })
  expect(await namedTests(joined, "skipped")).toEqual(["0", "1"])
})

describe("the suites", () => {
  test("have every test file once", async () => {
    const suites = await Promise.all(suiteNames.map((suite) => filesOf([suite])))
    const all = [...new Bun.Glob("test/**/*.test.ts").scanSync(join(import.meta.dir, "../.."))]
    expect(suites.flat().toSorted()).toEqual(all.map((file) => `./${file}`).toSorted())
  })

  test("that do not exist are refused", () => {
    expect(() => suiteNamed("units")).toThrow("There is no suite units")
  })
})
