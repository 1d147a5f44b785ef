import { describe, expect, test } from "bun:test"
import { endingNotice, exitText, survivorsNotice } from "../../src/cli/executions/execution-text.ts"
import { exitCodeOf, spawnExitCode } from "../../src/cli/exit-code.ts"
import type { Completed } from "../../src/protocol/notifications.ts"
import { completed } from "./fake-execution.ts"

const stopped = (cause: Completed["cause"]) =>
  completed({ outcome: "stopped", exit_code: null, cause })

describe("the exit code of a run", () => {
  test("is the command's own, all 256 of them", () => {
    for (let code = 0; code < 256; code += 1) {
      expect(exitCodeOf(completed({ exit_code: code }))).toBe(code)
    }
  })

  test.each([
    ["SIGHUP", 129],
    ["SIGKILL", 137],
    ["SIGTERM", 143],
    ["SIG40", 168],
  ])("is 128 and the number of %s", (signal, code) => {
    expect(exitCodeOf(completed({ outcome: "signaled", exit_code: null, signal }))).toBe(code)
  })

  test.each([
    ["wall-timeout", 124],
    ["idle-timeout", 124],
    ["client", 130],
    ["disconnected", 130],
    ["out-of-memory", 137],
    ["shutdown", 143],
    ["output-limit", 125],
    ["disk-full", 125],
  ] as const)("after a stop for %s is %d", (cause, code) => {
    expect(exitCodeOf(stopped(cause))).toBe(code)
  })

  test("of a stop is never the command's, even if it ended well", () => {
    expect(exitCodeOf({ ...stopped("wall-timeout"), exit_code: 0 })).toBe(124)
  })

  test("of what was lost or never started is not a made-up one", () => {
    expect(exitCodeOf(completed({ outcome: "lost", exit_code: null }))).toBe(125)
    expect(exitCodeOf(completed({ outcome: "failed-to-start", exit_code: null }))).toBe(126)
    expect(spawnExitCode("ENOENT")).toBe(127)
    expect(spawnExitCode("EACCES")).toBe(126)
  })
})

describe("what is said about an end", () => {
  test("is nothing where the exit code says it all", () => {
    expect(endingNotice(completed({ exit_code: 3 }))).toBeNull()
    expect(survivorsNotice(completed())).toBeNull()
  })

  test("names the reason where it does not", () => {
    const lost = completed({ outcome: "lost", exit_code: null, reason: "the keeper died" })

    expect(endingNotice(stopped("idle-timeout"))).toContain("no input or output for too long")
    expect(endingNotice(lost)).toContain("7kq2mfa4 was lost: the keeper died")
    expect(survivorsNotice({ survivors: [{ pid: 7, command: "x\ny" }] })).toContain("7 (x\\ny)")
  })

  test.each([
    [completed({ exit_code: 3 }), "3"],
    [completed({ outcome: "signaled", exit_code: null, signal: "SIGKILL" }), "SIGKILL"],
    [stopped("client"), "canceled"],
    [stopped("wall-timeout"), "wall-timeout"],
    [completed({ outcome: "lost", exit_code: null }), "lost"],
    [completed({ outcome: "failed-to-start", exit_code: null }), "not started"],
  ])("fits into a table", (ending, text) => {
    expect(exitText({ ending })).toBe(text)
  })
})
