import { describe, expect, test } from "bun:test"
import { loadConfig } from "../../src/config/config.ts"

describe("an environment of the first generation", () => {
  test("is understood", () => {
    const env = {
      ALLOWED_COMMANDS: "claude, git,/usr/bin/make",
      MAX_SESSIONS: "7",
      MAX_BUFFER_SIZE: "1048576",
      MAX_BUFFER_LINES: "10000",
      STREAM_TIMEOUT: "300",
      LOG_LEVEL: "WARNING",
    }

    const config = loadConfig({ flags: {}, env, home: "/home/me" })

    expect(config).toMatchObject({
      ok: true,
      value: {
        allowedCommands: ["claude", "git", "/usr/bin/make"],
        maxSessions: 7,
        budgetBytes: 1_048_576,
        budgetLines: 10_000,
        streamTimeoutMs: 300_000,
        logLevel: "warn",
      },
    })
  })
})
