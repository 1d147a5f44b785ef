import { describe, expect, test } from "bun:test"
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { addressOf } from "../../src/cli/connect/address.ts"
import { notRunningText, runningKeeper } from "../../src/cli/connect/running-keeper.ts"
import { eachExecution } from "../../src/cli/executions/each-execution.ts"
import { verdictLines, verdictOf } from "../../src/cli/verify/verdict.ts"
import { CallError } from "../../src/client/client-error.ts"
import { connect } from "../../src/client/connect.ts"
import { openFile } from "../../src/lib/open-file.ts"
import { failure } from "../../src/protocol/failure.ts"
import { tryLock } from "../../src/service/os/libc.ts"
import { readStat } from "../../src/service/os/proc.ts"
import { notRoot, testUnless } from "../support/test-unless.ts"
import { fakeContext } from "./fake-context.ts"

describe("several executions at once", () => {
  test("are all served; what is refused is told in the server's words", async () => {
    const context = fakeContext()
    await using client = connect({ url: "ws://127.0.0.1:1" })
    const message = "Several executions begin with a: use more characters of the id."

    const ids = ["a".repeat(26), "b".repeat(26)]
    const reached = { client, address: addressOf({ env: {}, home: context.home }, {}) }
    const exitCode = await eachExecution(context, reached, ids, async (_, { id, called }) => {
      if (id === ids[0]) throw new CallError(failure("PROCESS_NOT_FOUND", message))
      return `${called} done`
    })

    expect(exitCode).toBe(1)
    expect(context.stderr.text()).toBe(`cc-executor: ${message}\nbbbbbbbb done\n`)
  })
})

describe("the lock of a state directory", () => {
  const owner = { pid: process.pid, startTicks: readStat(process.pid)?.startTicks ?? 0 }
  const written = { ...owner, version: "1", startedAt: "2026-11-16T10:00:00Z" }

  test.each([
    ["names a process that runs", JSON.stringify(written), { ...written, upgrades: false }],
    ["is empty after an orderly end", "", null],
    ["names a process that died", JSON.stringify({ ...written, pid: 4_194_303 }), null],
    ["names a pid that now means another", JSON.stringify({ ...written, startTicks: 1 }), null],
  ])("%s", (_, text, keeper) => {
    using directory = temporaryDirectory()
    const path = join(directory.path, "lock")
    writeFileSync(path, text)
    using file = openFile(path, "r")
    expect(tryLock(file.fd)).toBe(true)

    expect(runningKeeper(path)).toEqual(keeper)
  })

  test("is not believed when it names a process that does not hold it", () => {
    using directory = temporaryDirectory()
    const path = join(directory.path, "lock")
    writeFileSync(path, JSON.stringify(written))

    expect(runningKeeper(path)).toBeNull()
    expect(notRunningText("/x", path)).toContain(`pid ${process.pid}, but that process does not`)
  })

  testUnless(notRoot, "is not believed when that process is another user's", async () => {
    using directory = temporaryDirectory()
    const path = join(directory.path, "lock")
    writeFileSync(path, JSON.stringify(written))
    chownSync(directory.path, 12_345, 12_345)
    chownSync(path, 12_345, 12_345)
    using file = openFile(path, "r")
    expect(tryLock(file.fd)).toBe(true)

    expect(runningKeeper(path)).toBeNull()
    expect(notRunningText("/x", path)).toContain("belongs to another user")
  })

  test("may not be there at all", () => {
    expect(runningKeeper("/home/user/nothing/lock")).toBeNull()
  })
})

describe("a verdict", () => {
  const intact = { verified: true, chain: "intact" }
  const signed = { status: "self-attested", key: "k" } as const

  test("holds when transcript and receipt do", () => {
    const verdict = verdictOf("id", intact, signed)

    expect(verdict.verified).toBe(true)
    expect(verdictLines(verdict, {}).at(-1)).toBe("verified")
  })

  test.each([
    ["a broken chain", { verified: false, chain: "broken at 7", reason: "x" }, signed],
    ["a refuted claim", { verified: false, chain: "intact", reason: "x" }, signed],
    ["an invalid receipt", intact, { status: "invalid", why: "x" } as const],
    ["nothing to go by", null, { status: "unchecked", why: "x" } as const],
  ])("falls with %s", (_, transcript, receipt) => {
    const verdict = verdictOf("id", transcript, receipt)

    expect(verdict.verified).toBe(false)
    expect(verdictLines(verdict, {}).join("\n")).toContain("x")
    expect(verdictLines(verdict, {}).at(-1)).toBe("NOT VERIFIED")
  })
})

function temporaryDirectory(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), "cc-executor-cli-"))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) }
}
