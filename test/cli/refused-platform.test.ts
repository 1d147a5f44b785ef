import { describe, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { refusedPlatform } from "../../src/cli/refused-platform.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

describe("a system that is not Linux", () => {
  test.each(["serve", "run -- ls", "ps", "mcp", "__gateway"])("does not get %s", (line) => {
    const argv = line.split(" ")
    expect(refusedPlatform("darwin", argv)).toContain("This is macOS")
    expect(refusedPlatform("win32", argv)).toContain("WSL 2")
    expect(refusedPlatform("linux", argv)).toBeNull()
  })

  test.each(["version --json", "help", "run --help", "completions zsh"])(
    "still gets what helps: %s",
    (line) => expect(refusedPlatform("darwin", line.split(" "))).toBeNull(),
  )

  test("is refused by the program, run from source, before it loads anything", async () => {
    using folder = temporaryFolder()
    const preload = join(folder.path, "macos.ts")
    const fake = 'Object.defineProperty(process, "platform", { value: "darwin" })\n'
    writeFileSync(preload, `${fake}Bun.dlopen = () => { throw new Error("loaded") }\n`)
    const main = join(import.meta.dir, "../../src/main.ts")

    const program = Bun.spawn([process.execPath, `--preload=${preload}`, main, "serve"], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    })

    expect(await program.stderr.text()).toMatch(/^cc-executor: This is macOS, and cc-executor runs/)
    expect(await program.exited).toBe(1)
  })
})
