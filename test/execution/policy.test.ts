import { describe, expect, test } from "bun:test"
import { anyArguments } from "../../src/execution/argument-rule.ts"
import { type AllowList, isWithin, judgeProgram } from "../../src/execution/policy.ts"

const bin = { realPath: "/usr/bin/busybox", stamp: "1" }
const script = { realPath: "/srv/job", stamp: "2" }
const shell = { realPath: "/usr/bin/dash", stamp: "3" }

const policy: AllowList = {
  kind: "allow-list",
  programs: [
    { name: "ls", path: "/bin/ls", files: [bin], arguments: anyArguments },
    {
      name: "job",
      path: "/srv/job",
      files: [script, shell],
      arguments: { begin: [["now"]], never: [] },
    },
    { name: "later", path: "later", files: "there is no file /bin/later", arguments: anyArguments },
  ],
  directories: null,
  variables: null,
}

const job = { name: "job", path: "/srv/job", files: [script, shell] } as const
const ls = { name: "ls", path: "/bin/ls", files: [bin] } as const

describe("an allow-list", () => {
  test("allows what is on it, by its files and by its name", () => {
    expect(judgeProgram(policy, ls, ["-l"])).toMatchObject({ ok: true })
    expect(judgeProgram(policy, job, ["now", "or", "never"])).toMatchObject({ ok: true })
  })

  test("refuses another file of the same name, and another name for the same file", () => {
    const another = { ...ls, files: [{ realPath: "/tmp/ls", stamp: "1" }] } as const
    for (const found of [another, { ...ls, name: "sh" }]) {
      const why = expect.stringContaining("is not on the allow-list")
      expect(judgeProgram(policy, found, [])).toEqual({
        ok: false,
        failure: { rule: "program", why },
      })
    }
  })

  test("refuses a file, or an interpreter, that has changed since", () => {
    const changed = { ...script, stamp: "4" }
    const otherShell = { realPath: "/tmp/dash", stamp: "3" }
    for (const files of [[changed, shell], [script, otherShell], [script], [script, shell, bin]]) {
      const [first = script, ...rest] = files
      const found = { ...job, files: [first, ...rest] } as const
      const why = expect.stringContaining("has changed since the policy was read")
      expect(judgeProgram(policy, found, ["now"])).toEqual({
        ok: false,
        failure: { rule: "program", why },
      })
    }
  })

  test("refuses what has come later, and says that it must be read again", () => {
    const found = { ...ls, name: "later" }
    const why = expect.stringContaining("SIGHUP")
    expect(judgeProgram(policy, found, [])).toEqual({
      ok: false,
      failure: { rule: "program", why },
    })
  })

  test("refuses arguments that its rule does not allow", () => {
    for (const args of [[], ["later"], ["nowhere"]]) {
      const why = expect.stringContaining("must begin with `now`")
      expect(judgeProgram(policy, job, args)).toEqual({
        ok: false,
        failure: { rule: "arguments", why },
      })
    }
  })
})

describe("a directory", () => {
  test("is within another when it is it, or below it", () => {
    for (const path of ["/srv", "/srv/a", "/srv/a/b"]) expect(isWithin(["/srv"], path)).toBe(true)
    for (const path of ["/", "/srva", "/sr"]) expect(isWithin(["/srv"], path)).toBe(false)
    expect(isWithin(["/"], "/anything")).toBe(true)
    expect(isWithin([], "/srv")).toBe(false)
  })
})
