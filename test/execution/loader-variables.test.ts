import { describe, expect, test } from "bun:test"
import {
  changesWhatRuns,
  isBaseVariable,
  refusedVariable,
} from "../../src/execution/loader-variables.ts"

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
]
const others = ["LANG", "TERM", "MY_PATH", "CI", "TZ", "BUILD_NUMBER", "path"]

describe("a variable", () => {
  test("that changes which code runs is known", () => {
    expect(loaders.filter((name) => !changesWhatRuns(name))).toEqual([])
  })

  test("that does not is left alone", () => {
    expect(others.filter(changesWhatRuns)).toEqual([])
  })

  test("of a request may be anything else, or what the policy names", () => {
    expect(refusedVariable("CI", null)).toBeNull()
    expect(refusedVariable("CI", ["CI"])).toBeNull()
    expect(refusedVariable("BUILD_ID", ["CI", "BUILD_*"])).toBeNull()
    expect(refusedVariable("CI", ["BUILD_*"])).toContain("it is not in the policy's environment")
    expect(refusedVariable("CI", [])).toContain("it is not in the policy's environment")
  })

  test("that changes what runs is let through by its name only, not by a pattern", () => {
    expect(refusedVariable("NODE_ENV", ["NODE_ENV"])).toBeNull()
    expect(refusedVariable("NODE_ENV", ["NODE_*", "*"])).toContain("changes what runs")
    expect(refusedVariable("LD_PRELOAD", null)).toContain("changes what runs")
  })

  test("of the service reaches children when it belongs to the base", () => {
    for (const name of ["PATH", "HOME", "LANG", "LC_ALL", "TERM"])
      expect(isBaseVariable(name)).toBe(true)
    for (const name of ["AWS_SECRET_ACCESS_KEY", "LD_PRELOAD", "PATHS"])
      expect(isBaseVariable(name)).toBe(false)
  })
})
