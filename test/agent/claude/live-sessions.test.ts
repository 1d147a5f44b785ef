import { describe, expect, test } from "bun:test"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { processWithSession } from "../../../src/agent/claude/live-sessions.ts"
import { readStat } from "../../../src/service/os/proc.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"

describe("a folder of Claude Code's that cannot be used", () => {
  test("has no session that is open, whatever whoever asks has made of it", () => {
    using folder = temporaryFolder()
    const loop = join(folder.path, "loop")
    symlinkSync(loop, loop)

    for (const home of [loop, `/${"long/".repeat(2000)}`, "/dev/null", "/proc/1/mem"]) {
      expect(processWithSession({ CLAUDE_CONFIG_DIR: home }, "a session")).toBe(null)
    }
  })
})

const pad = "x".repeat(20_000)

describe("a note of a session that is open", () => {
  const startTicks = String(readStat(process.pid)?.startTicks)
  const note = { pid: process.pid, procStart: startTicks, sessionId: "mine" }

  test.each([
    ["is believed of a process that lives", `${process.pid}.json`, note, process.pid],
    ["is none for another session", `${process.pid}.json`, { ...note, sessionId: "other" }, null],
    ["is none of an earlier process", `${process.pid}.json`, { ...note, procStart: "1" }, null],
    ["is not even read where no such process lives", "1234567890.json", note, null],
    ["is not read where it is larger than any", `${process.pid}.json`, { ...note, pad }, null],
  ])("%s", (_, name, written, found) => {
    using folder = temporaryFolder()
    mkdirSync(join(folder.path, "sessions"))
    writeFileSync(join(folder.path, "sessions", name), JSON.stringify(written))

    expect(processWithSession({ CLAUDE_CONFIG_DIR: folder.path }, "mine")).toBe(found)
  })
})
