import { describe, expect, test } from "bun:test"
import { appendFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { version } from "../../../package.json"
import { buildFacts } from "../../../scripts/build/build-facts.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"

const committedAt = "2026-02-03T04:05:06Z"

describe("a build of a commit", () => {
  test("says which, and when it was made", () => {
    using folder = repository()
    const facts = buildFacts({}, folder.path)
    expect(facts).toEqual({ version, commit: folder.head, built: committedAt })
  })

  test("says when something tracked has been changed since", () => {
    using folder = repository()
    appendFileSync(join(folder.path, "file"), "more")
    expect(buildFacts({}, folder.path).commit).toBe(`${folder.head}-dirty`)
  })

  test("says when something was added, which could be in the build as well", () => {
    using folder = repository()
    writeFileSync(join(folder.path, "other"), "")
    expect(buildFacts({}, folder.path).commit).toBe(`${folder.head}-dirty`)
  })

  test("takes its date from SOURCE_DATE_EPOCH when there is one", () => {
    using folder = repository()
    const facts = buildFacts({ SOURCE_DATE_EPOCH: "1700000000" }, folder.path)
    expect(facts.built).toBe("2023-11-14T22:13:20Z")
  })

  test.each(["soon", "-1", "1.5", "123456789012"])("refuses the date %s", (epoch) => {
    using folder = repository()
    expect(() => buildFacts({ SOURCE_DATE_EPOCH: epoch }, folder.path)).toThrow(/SOURCE_DATE_EPOCH/)
  })
})

describe("a build outside of a repository", () => {
  test("does not know", () => {
    using folder = temporaryFolder()
    expect(buildFacts({}, folder.path)).toEqual({ version, commit: "unknown", built: null })
  })

  test("can be told", () => {
    using folder = temporaryFolder()
    const env = { CC_EXECUTOR_BUILD_COMMIT: "0123456789ab", SOURCE_DATE_EPOCH: "0" }
    const facts = { version, commit: "0123456789ab", built: "1970-01-01T00:00:00Z" }
    expect(buildFacts(env, folder.path)).toEqual(facts)
  })
})

function repository() {
  const folder = temporaryFolder()
  const git = (...args: string[]) => {
    const who = ["-c", "user.name=Tester", "-c", "user.email=tester@example.net"]
    const dates = { GIT_AUTHOR_DATE: committedAt, GIT_COMMITTER_DATE: committedAt }
    const env = { ...process.env, ...dates }
    const done = Bun.spawnSync(["git", ...who, ...args], { cwd: folder.path, env })
    if (done.exitCode !== 0) throw new Error(done.stderr.toString())
    return done.stdout.toString().trim()
  }
  git("init", "--quiet")
  writeFileSync(join(folder.path, "file"), "text")
  git("add", "file")
  git("commit", "--quiet", "--message", "First")
  return { ...folder, head: git("rev-parse", "--short=12", "HEAD") }
}
