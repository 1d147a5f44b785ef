import { describe, expect, test } from "bun:test"
import { allowsProgram, changesWhatRuns, type Policy } from "../../src/execution/policy.ts"

const ls = { realPath: "/usr/bin/ls", name: "ls" }

describe("an allow-list", () => {
  const policy: Policy = { kind: "allow-list", programs: [ls] }

  test("allows what is on it, by file and by name", () => {
    expect(allowsProgram(policy, ls)).toBe(true)
  })

  test("refuses another file of the same name, and another name for the same file", () => {
    expect(allowsProgram(policy, { ...ls, realPath: "/tmp/ls" })).toBe(false)
    expect(allowsProgram(policy, { ...ls, name: "sh" })).toBe(false)
  })

  test("that is empty allows nothing, and no list allows everything", () => {
    expect(allowsProgram({ kind: "allow-list", programs: [] }, ls)).toBe(false)
    expect(allowsProgram({ kind: "everything" }, ls)).toBe(true)
  })
})

describe("a variable", () => {
  test("that changes which code runs is known", () => {
    for (const name of ["LD_PRELOAD", "PATH", "BASH_ENV", "NODE_OPTIONS", "BUN_OPTIONS", "GIT_SSH"])
      expect(changesWhatRuns(name)).toBe(true)
  })

  test("that does not is left alone", () => {
    for (const name of ["HOME", "LANG", "TERM", "MY_PATH"])
      expect(changesWhatRuns(name)).toBe(false)
  })
})
