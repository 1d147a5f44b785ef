import { describe, expect, test } from "bun:test"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { processWithSession } from "../../../src/agent/claude/live-sessions.ts"
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
