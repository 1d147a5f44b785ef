import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { readPolicyFile } from "../../src/config/policy-file.ts"

describe("a policy file", () => {
  test("says which commands may run, with which arguments, where, and with which variables", () => {
    const text = `
commands:
  git: status, log, "remote -v"      # arguments must begin with one of these
  make: any
  ls: [-l, "-a -h"]
  /usr/bin/python3:
    begin: ["-m pytest"]
    never: ["-c", "--output*"]
directories: [/srv/work]
environment: [CI, "BUILD_*"]
inherit: [API_KEY]
`
    expect(readPolicyFile(text)).toEqual({
      ok: true,
      value: {
        commands: {
          git: { begin: [["status"], ["log"], ["remote", "-v"]], never: [] },
          make: { begin: null, never: [] },
          ls: { begin: [["-l"], ["-a", "-h"]], never: [] },
          "/usr/bin/python3": { begin: [["-m", "pytest"]], never: ["-c", "--output*"] },
        },
        directories: ["/srv/work"],
        environment: ["CI", "BUILD_*"],
        inherit: ["API_KEY"],
      },
    })
  })

  const wrong: [string, string][] = [
    ["commands:\n  git:", "commands → git: write `any`"],
    ["commands:\n  git: ''", "commands → git: write `any`"],
    ["commands:\n  git: []", "commands → git"],
    ["commands:\n  git: ['']", "commands → git"],
    ["commands:\n  git: 5", "commands → git"],
    ["commands:\n  git:\n    begn: [a]", "commands → git"],
    ["commands: {git: status, git: any}", "without braces"],
    ["commands:\n  git: {never: [a], never: [b]}", "without braces"],
    ["commands:\n  bin/git: any", "commands → bin/git"],
    ["commands:\n  git: any\n  'git': status", "git is listed twice"],
    ["directories: [work]", "directories → 0"],
    ["directories: []", "directories"],
    ["environment: ['*A']", "environment → 0"],
    ["nothing: 1", "nothing"],
    ["- commands", "expected object"],
    ["a: [", "YAML"],
  ]
  test.each(wrong)("%j is refused, and the place is named", (text, why) => {
    const read = readPolicyFile(text)
    expect(read.ok ? "" : read.failure).toContain(why)
  })

  test("may repeat under two commands what it must not repeat under one", () => {
    const text = "commands:\n  a:\n    never: [x]\n  b:\n    never: [y]\n"
    expect(readPolicyFile(text)).toMatchObject({ ok: true })
    expect(readPolicyFile(`${text}    never: [z]\n`).ok).toBe(false)
  })

  test("of any other text is refused or read, but never throws", () => {
    fc.assert(fc.property(fc.string(), (text) => void readPolicyFile(text)))
  })
})
