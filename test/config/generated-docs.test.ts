import { describe, expect, test } from "bun:test"
import { join } from "node:path"

describe("docs/configuration.md", () => {
  test("is what the settings say", async () => {
    const script = join(import.meta.dir, "../..", "scripts", "generate-docs.ts")
    const run = Bun.spawn([process.execPath, script, "--check"], { stderr: "inherit" })
    expect(await run.stdout.text()).toBe("")
    expect(await run.exited).toBe(0)
  })
})
