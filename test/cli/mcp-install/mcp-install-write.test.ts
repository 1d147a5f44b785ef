import { describe, expect, test } from "bun:test"
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { mcpClients } from "../../../src/cli/mcp-install/clients.ts"
import { mcpHome, stdio } from "./mcp-home.ts"

describe("mcp install --write", () => {
  test.each(mcpClients.map(({ name }) => [name]))("twice for %s changes once", async (client) => {
    using at = mcpHome()
    const first = await at.install([client, "--write"])
    const path = /^Created (\S+):/.exec(first.stderr)?.[1] ?? ""
    const before = statSync(path)
    const again = await at.install([client, "--write"])

    expect([first.exitCode, again.exitCode]).toEqual([0, 0])
    expect(again.stderr).toBe(`${path} already has this entry; nothing was changed.\n`)
    expect(statSync(path)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs })
    expect(before.mode & 0o777).toBe(0o600)
  })

  test("for a project writes beside it, for all who work on it", async () => {
    using at = mcpHome()
    const { stderr } = await at.install(["claude-code", "--write", "--scope", "project"])

    expect(statSync(at.file(".mcp.json")).mode & 0o777).toBe(0o644)
    expect(stderr).toContain("which others may not have")
    expect(existsSync(at.file(".claude.json"))).toBe(false)
  })

  test("follows where clients were told to keep their files", async () => {
    using at = mcpHome()
    const env = {
      XDG_CONFIG_HOME: at.file("xdg"),
      CLAUDE_CONFIG_DIR: at.file("claude"),
      CODEX_HOME: at.file("codex"),
      COPILOT_HOME: at.file("copilot"),
    }
    for (const name of ["claude-code", "codex", "copilot-cli", "zed"]) {
      expect((await at.install([name, "--write"], env)).exitCode).toBe(0)
    }

    const made = ["claude/.claude.json", "codex/config.toml", "copilot/mcp-config.json"]
    for (const path of [...made, "xdg/zed/settings.json"]) {
      expect(existsSync(at.file(path))).toBe(true)
    }
  })

  test("keeps mode, link and every other byte", async () => {
    using at = mcpHome()
    const target = at.put('{\n    "a": 1 // mine\n}\n', "dotfiles", "zed.json")
    chmodSync(target, 0o640)
    mkdirSync(at.file(".config", "zed"), { recursive: true })
    const link = at.file(".config", "zed", "settings.json")
    symlinkSync("../../dotfiles/zed.json", link)

    const { exitCode, stderr } = await at.install(["zed", "--write"])

    expect(exitCode).toBe(0)
    expect(stderr).toContain(`Changed ${link}`)
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(statSync(target).mode & 0o777).toBe(0o640)
    expect(readFileSync(target, "utf8")).toStartWith('{\n    "a": 1, // mine\n    "context_servers')
    expect(readdirSync(at.file("dotfiles"))).toEqual(["zed.json"])
  })

  test("makes the file that a link leads to", async () => {
    using at = mcpHome()
    symlinkSync(at.file("elsewhere", "claude.json"), at.file(".claude.json"))

    expect((await at.install(["claude-code", "--write"])).exitCode).toBe(0)
    expect(lstatSync(at.file(".claude.json")).isSymbolicLink()).toBe(true)
    expect(existsSync(at.file("elsewhere", "claude.json"))).toBe(true)
  })

  test("replaces another entry only by force", async () => {
    using at = mcpHome()
    const path = at.put('{"mcpServers":{"cc-executor":{"command":"x"}}}', ".claude.json")
    const refused = await at.install(["claude-code", "--write"])
    const kept = readFileSync(path, "utf8")
    const other = await at.install(["claude-code", "--write", "--name", "second"])
    const forced = await at.install(["claude-code", "--write", "--force"])

    expect(refused).toMatchObject({ exitCode: 1, stdout: "" })
    expect(refused.stderr).toContain('has another entry "cc-executor"; nothing was changed')
    expect(kept).toBe('{"mcpServers":{"cc-executor":{"command":"x"}}}')
    expect([other.exitCode, forced.exitCode]).toEqual([0, 0])
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      mcpServers: {
        "cc-executor": { type: "stdio", ...stdio },
        second: { type: "stdio", ...stdio },
      },
    })
  })

  test.each([
    ["claude-code", ".claude.json", "{ oops", "not valid JSON: line 1, column 3"],
    ["claude-code", ".claude.json", "{} // mine", "reads only plain JSON"],
    ["codex", ".codex/config.toml", "a = [", "not valid TOML"],
  ])("leaves what it cannot read, and shows what to add: %s", async (client, file, text, why) => {
    using at = mcpHome()
    const path = at.put(text, file)
    const refused = await at.install([client, "--write"])

    expect(refused).toMatchObject({ exitCode: 1, stdout: "" })
    expect(refused.stderr).toContain(`${path} was not changed`)
    expect(refused.stderr).toContain(why)
    expect(refused.stderr).toContain("/src/main.ts")
    expect(readFileSync(path, "utf8")).toBe(text)
  })

  test("leaves what is no text, no file, or a link without an end", async () => {
    using at = mcpHome()
    writeFileSync(at.file(".claude.json"), Buffer.from([0x7b, 0xff, 0x7d]))
    mkdirSync(at.file(".cursor", "mcp.json"), { recursive: true })
    mkdirSync(at.file(".codex"))
    symlinkSync("config.toml", at.file(".codex", "config.toml"))
    at.put("", ".gemini")

    const bytes = await at.install(["claude-code", "--write"])
    const folder = await at.install(["cursor", "--write"])
    const loop = await at.install(["codex", "--write"])
    const blocked = await at.install(["gemini-cli", "--write"])

    expect(bytes.stderr).toContain("is not UTF-8 text")
    expect(folder.stderr).toContain("is not a file")
    expect(loop.stderr).toContain("is a broken symbolic link")
    expect(blocked.stderr).toContain("(ENOTDIR)")
    for (const { exitCode } of [bytes, folder, loop, blocked]) expect(exitCode).toBe(1)
    expect(readFileSync(at.file(".claude.json"))).toEqual(Buffer.from([0x7b, 0xff, 0x7d]))
  })
})
