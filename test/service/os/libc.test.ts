import { describe, expect, test } from "bun:test"
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  growPipe,
  makePipe,
  openPidfd,
  reap,
  setNonblocking,
  signalPidfd,
  tryLock,
} from "../../../src/service/os/libc.ts"
import { until } from "../../support/until.ts"

describe("a lock", () => {
  test("is had by one at a time, and let go with its file", () => {
    const folder = mkdtempSync(join(tmpdir(), "cc-executor-lock-"))
    using stack = new DisposableStack()
    stack.defer(() => rmSync(folder, { recursive: true }))
    const open = () => openSync(join(folder, "lock"), "a+")
    const [first, second] = [open(), open()]

    expect(tryLock(first)).toBe(true)
    expect(tryLock(first)).toBe(true)
    expect(tryLock(second)).toBe(false)
    closeSync(first)

    expect(tryLock(second)).toBe(true)
    closeSync(second)
  })

  test("on what is no file is an error, not a refusal", () => {
    expect(() => tryLock(-1)).toThrow("EBADF")
  })

  test("is not inherited by a child", async () => {
    const folder = mkdtempSync(join(tmpdir(), "cc-executor-lock-"))
    using stack = new DisposableStack()
    stack.defer(() => rmSync(folder, { recursive: true }))
    const path = join(folder, "lock")
    const first = openSync(path, "a+")
    expect(tryLock(first)).toBe(true)
    await using child = Bun.spawn(["sleep", "1000"])

    closeSync(first)
    const second = openSync(path, "a+")

    await until("the child has become what it is, without the lock", () => tryLock(second))
    closeSync(second)
    child.kill("SIGKILL")
    await child.exited
  })
})

describe("a pipe", () => {
  test("carries bytes, may be made larger, and does not wait when told not to", () => {
    const { readFd, writeFd } = makePipe()
    growPipe(readFd, 262_144)
    setNonblocking(writeFd)

    let written = 0
    const fill = () => {
      for (;;) written += writeSync(writeFd, new Uint8Array(4096).fill(7))
    }

    expect(fill).toThrow("EAGAIN")
    expect(written).toBeGreaterThanOrEqual(65_536)
    const bytes = new Uint8Array(10)
    expect(readSync(readFd, bytes)).toBe(10)
    expect(bytes).toEqual(new Uint8Array(10).fill(7))
    closeSync(readFd)
    closeSync(writeFd)
  })
})

describe("a process handle", () => {
  test("is there for a process, and not for none", () => {
    const own = openPidfd(process.pid)

    expect(own).not.toBeNull()
    expect(openPidfd(4_194_303)).toBeNull()
    if (own !== null) {
      expect(signalPidfd(own, 0)).toBe(true)
      closeSync(own)
    }
  })
})

describe("reaping", () => {
  test("of what is not our child answers that nothing was reaped", () => {
    expect(reap(process.pid)).toBeNull()
    expect(reap(4_194_303)).toBeNull()
  })
})
