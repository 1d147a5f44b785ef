import { describe, expect, test } from "bun:test"
import {
  changesWhatRuns,
  isBaseVariable,
  refusedVariable,
} from "../../src/execution/loader-variables.ts"
import { newMarker } from "../../src/execution/trial/check-wrapper.ts"

const loaders = [
  "LD_PRELOAD",
  "LD_LIBRARY_PATH",
  "PATH",
  "HOME",
  "BASH_ENV",
  "BASH_FUNC_ls%%",
  "ENV",
  "NODE_OPTIONS",
  "BUN_OPTIONS",
  "PYTHONPATH",
  "PERL5OPT",
  "RUBYOPT",
  "GIT_SSH",
  "GLIBC_TUNABLES",
  "JAVA_TOOL_OPTIONS",
  "_JAVA_OPTIONS",
  "MAKEFLAGS",
  "MANPAGER",
  "EDITOR",
  "SUDO_EDITOR",
  "RSYNC_RSH",
  "LESSOPEN",
  "XDG_CONFIG_HOME",
  "CC_EXECUTOR_URL",
  "PYTEST_ADDOPTS",
  "PYTEST_PLUGINS",
  "RSYNC_CONNECT_PROG",
  "DOTNET_STARTUP_HOOKS",
  "PSQLRC",
  "SVN_SSH",
  "TF_CLI_ARGS",
  "AWKLIBPATH",
  "GCC_EXEC_PREFIX",
]
const others = ["LANG", "TERM", "MY_PATH", "CI", "TZ", "BUILD_NUMBER", "path"]

describe("a variable", () => {
  test("that changes which code runs is known", () => {
    expect(loaders.filter((name) => !changesWhatRuns(name))).toEqual([])
  })

  test("that does not is left alone", () => {
    expect(others.filter(changesWhatRuns)).toEqual([])
  })

  test("that marks a check of a trial may be set to a marker, and to nothing else", () => {
    const marker = newMarker(new Date(0), "abcd2345")
    expect(refusedVariable("CC_EXECUTOR_MARKER", marker, null)).toBeNull()
    expect(refusedVariable("CC_EXECUTOR_MARKER", marker, ["CI"])).toBeNull()
    expect(refusedVariable("CC_EXECUTOR_MARKER", `${marker} x`, null)).toContain("must not set")
  })

  test("of a request may be what the policy names", () => {
    expect(refusedVariable("CI", "1", ["CI"])).toBeNull()
    expect(refusedVariable("BUILD_ID", "../x", ["CI", "BUILD_*"])).toBeNull()
    expect(refusedVariable("CI", "1", ["BUILD_*"])).toBe(
      "a request must not set CI: it is not in the policy's environment; " +
        "`environment: [CI]` in the policy file would allow it",
    )
    expect(refusedVariable("LANG", "C", [])).toContain("it is not in the policy's environment")
  })

  test("that changes what runs is let through by its name only, not by a pattern", () => {
    expect(refusedVariable("NODE_ENV", "test", ["NODE_ENV"])).toBeNull()
    expect(refusedVariable("NODE_ENV", "test", ["NODE_*", "*"])).toContain("changes what runs")
  })
})

describe("without an environment in the policy", () => {
  const plain: [string, string][] = [
    ["LANG", "de_DE.UTF-8@euro"],
    ["LANGUAGE", "de_AT:de:en"],
    ["LC_ALL", "C.UTF-8"],
    ["LC_TIME", ""],
    ["TZ", "America/Argentina/Buenos_Aires"],
    ["TZ", ":Europe/Berlin"],
    ["TZ", "CET-1CEST,M3.5.0,M10.5.0/3"],
    ["TZ", "<+0330>-3:30"],
    ["TERM", "xterm-256color"],
    ["COLORTERM", "truecolor"],
    ["NO_COLOR", "1"],
    ["FORCE_COLOR", "3"],
    ["COLUMNS", "120"],
    ["LINES", "40"],
  ]
  test.each(plain)("%s=%s may be set", (name, value) => {
    expect(refusedVariable(name, value, null)).toBeNull()
  })

  const unknown = ["CI", "BUILD_ID", "LC_ANYTHING", "LC_", "lang", "TZDIR", "TMPDIR", "", "FOO"]
  test.each([...loaders, ...unknown])("%s may not, whatever it is", (name) => {
    for (const value of ["", "1", "C"]) {
      expect(refusedVariable(name, value, null)).toStartWith(`a request must not set ${name}: `)
    }
  })

  const meant: [string, string][] = [
    ["LANG", "/tmp/locale"],
    ["LC_ALL", "../../tmp"],
    ["LANGUAGE", "de:../../../tmp/x"],
    ["LC_MESSAGES", "%n%n"],
    ["TZ", "/etc/shadow"],
    ["TZ", ":/etc/shadow"],
    ["TZ", "Europe/../../../../etc/shadow"],
    ["TERM", "../x"],
    ["TERM", "x\u001b]0;title"],
    ["COLUMNS", "x[$(id)]"],
    ["LINES", "1+1"],
    ["NO_COLOR", "a\nb"],
  ]
  test.each(meant)("%s=%j may not: the value is not plain", (name, value) => {
    expect(refusedVariable(name, value, null)).toBe(
      `a request must not set ${name} to a value that is not plain; ` +
        `\`environment: [${name}]\` in the policy file would allow it`,
    )
  })

  test("a refusal names the line of the policy that would allow it", () => {
    expect(refusedVariable("PYTEST_ADDOPTS", "-p x", null)).toBe(
      "a request must not set PYTEST_ADDOPTS: it changes what runs; " +
        "`environment: [PYTEST_ADDOPTS]` in the policy file would allow it",
    )
    expect(refusedVariable("BASH_FUNC_ls%%", "x", null)).toContain('["BASH_FUNC_ls%%"]')
  })
})

describe("a variable", () => {
  test("of the service reaches children when it belongs to the base", () => {
    for (const name of ["PATH", "HOME", "LANG", "LC_ALL", "TERM"])
      expect(isBaseVariable(name)).toBe(true)
    for (const name of ["AWS_SECRET_ACCESS_KEY", "LD_PRELOAD", "PATHS"])
      expect(isBaseVariable(name)).toBe(false)
  })
})
