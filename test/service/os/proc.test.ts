import { describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { commandLine, isAlive, isSameProcess, readStat } from "../../../src/service/os/proc.ts"
import { RealChild } from "../../support/real-child.ts"
import { until } from "../../support/until.ts"

describe("what /proc says of a process", () => {
  test("is read of this one", () => {
    const stat = readStat(process.pid)

    expect(stat).toMatchObject({ pid: process.pid, parent: process.ppid })
    expect(stat?.threads).toBeGreaterThan(0)
    expect(stat?.startTicks).toBeGreaterThan(0)
    expect(isAlive(stat)).toBe(true)
  })

  test("is read right whatever the process calls itself", async () => {
    const folder = mkdtempSync(join(tmpdir(), "cc-executor-proc-"))
    await using stack = new AsyncDisposableStack()
    stack.defer(() => rmSync(folder, { recursive: true }))
    const odd = join(folder, "a) R 1 (b\nc")
    symlinkSync("/bin/sleep", odd)
    const child = stack.use(new RealChild(`exec '${odd}' 1000`))
    await until("it is what it shall be", () => commandLine(child.pid).includes("R 1"))

    const stat = readStat(child.pid)

    expect(stat).toMatchObject({ parent: process.pid, group: child.pid, session: child.pid })
    expect(stat?.state).toMatch(/^[RSD]$/)
  })

  test("is nothing when there is none", () => {
    expect(readStat(4_194_303)).toBeNull()
    expect(isAlive(null)).toBe(false)
    expect(isSameProcess({ pid: 4_194_303, startTicks: 0 })).toBe(false)
    expect(commandLine(4_194_303)).toBe("[gone]")
  })
})

describe("a zombie", () => {
  test("is not alive", async () => {
    await using child = new RealChild("sh -c 'echo \"zombie $$\"; kill -STOP $$' & exec sleep 1000")
    const zombie = await child.told("zombie")
    await until("it has stopped", () => readStat(zombie.pid)?.state === "T")

    process.kill(zombie.pid, "SIGKILL")
    await until("it is a zombie", () => readStat(zombie.pid)?.state === "Z")

    expect(isAlive(readStat(zombie.pid))).toBe(false)
    expect(isSameProcess(zombie)).toBe(true)
  })

  test("is only called so while other threads of the process go on", async () => {
    // Ends the first thread of a process that has more: from then on it looks like a zombie.
    const program = `
      const { dlopen, FFIType } = require("bun:ffi")
      const { symbols } = dlopen("libc.so.6", {
        syscall: { args: [FFIType.i64, FFIType.i64], returns: FFIType.i64 },
      })
      const source = "setInterval(() => undefined, 50); postMessage('ready')"
      const worker = new Worker(URL.createObjectURL(new Blob([source])))
      worker.onmessage = () => {
        console.log("process " + process.pid)
        setTimeout(() => symbols.syscall(${process.arch === "arm64" ? 93 : 60}n, 0n), 50)
      }
    `
    await using child = new RealChild('exec "$PROGRAM" -e "$SOURCE"', {
      env: { PROGRAM: process.execPath, SOURCE: program },
    })
    const identity = await child.told("process")
    await until("its first thread has ended", () => readStat(identity.pid)?.state === "Z")

    expect(isAlive(readStat(identity.pid))).toBe(true)
  })
})
