import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { toolFolder } from "../../scripts/test-tools.ts"
import { CommandLine } from "../cli/command-line.ts"
import { filesWith } from "../support/files-with.ts"
import { onlyInFull } from "../support/scale.ts"
import { executable, Service } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { testUnless } from "../support/test-unless.ts"

setDefaultTimeout(60_000)

const program = "node_modules/@anthropic-ai/claude-code-linux-x64/claude"
const claude = join(toolFolder("claude-code") ?? "", program)
const noClaude = existsSync(claude) ? null : "Claude Code is not installed"

/** A person with a home directory, a service of their own, and Claude Code. */
class Person implements AsyncDisposable {
  readonly #folder = temporaryFolder()
  readonly line = new CommandLine()

  get home(): string {
    return this.#folder.path
  }

  install(argv: readonly string[], env: Record<string, string> = {}) {
    const options = { env: { ...this.#env(), ...env }, cwd: this.home }
    return this.line.run(["mcp", "install", ...argv], options)
  }

  claude(argv: readonly string[], env: Record<string, string> = {}) {
    return this.shell('"$CLAUDE" "$@"', argv, env)
  }

  shell(script: string, argv: readonly string[] = [], env: Record<string, string> = {}) {
    const options = { env: { ...this.#env(), ...env }, cwd: this.home }
    return this.line.runOther(["/bin/sh", "-c", script, "sh", ...argv], options)
  }

  /** Nothing of whoever runs the tests: neither their files nor their settings. */
  #env(): Record<string, string> {
    return {
      HOME: this.home,
      CLAUDE: claude,
      CLAUDE_CONFIG_DIR: this.home,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_TELEMETRY: "1",
      SHELL: "/bin/sh",
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.line[Symbol.asyncDispose]()
    this.#folder[Symbol.dispose]()
  }
}

function connected(list: string): string[] {
  return Array.from(
    list.matchAll(/^([\w-]+): .* - .* Connected$/gm),
    ([, name = ""]) => name,
  ).toSorted()
}

describe("mcp install --write", () => {
  test("makes a client start this very program, with the state directory in use", async () => {
    await using person = new Person()

    const { exitCode } = await person.install(["cursor", "--write"])

    const file = join(person.home, ".cursor", "mcp.json")
    expect(exitCode).toBe(0)
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      mcpServers: {
        "cc-executor": {
          type: "stdio",
          command: executable,
          args: ["mcp", "--state-dir", person.line.stateDir],
        },
      },
    })
  })
})

describe("Claude Code", () => {
  testUnless(noClaude, "is connected by what was written, in three ways", async () => {
    await using person = new Person()
    await using service = await Service.start()
    const url = await service.url()
    await person.install(["claude-code", "--write"])
    for (const transport of ["http", "ws"]) {
      const options = ["--transport", transport, "--url", url, "--name", `by-${transport}`]
      expect(await person.install(["claude-code", "--write", ...options])).toMatchObject({
        exitCode: 0,
      })
    }

    const { stdout } = await person.claude(["mcp", "list"])
    const details = await person.claude(["mcp", "get", "cc-executor"])

    expect(stdout).toMatch(/^cc-executor: .* mcp --state-dir .* - .* Connected$/m)
    expect(stdout).toMatch(/^by-http: http:\/\/.*\/mcp \(HTTP\) - .* Connected$/m)
    expect(stdout).toMatch(/^by-ws: ws:\/\/.*\/ws\/mcp \(WS\) - .* Connected$/m)
    expect(details.stdout).toContain("User config")
    expect(details.stdout).toContain(`Command: ${executable}`)
  })

  testUnless(
    noClaude ?? onlyInFull,
    "brings the token that stands in no file of its own",
    async () => {
      await using person = new Person()
      await using service = await Service.start({ env: { CC_EXECUTOR_REQUIRE_TOKEN: "true" } })
      const options = ["--name", "ci", "--state-dir", service.stateDir]
      const token = await person.line.stdout("token", "create", ...options)
      const path = join(person.home, "ci.token")
      writeFileSync(path, token, { mode: 0o600 })
      const remote = ["--write", "--url", await service.url()]
      const env = { CC_EXECUTOR_TOKEN: token }
      await person.install(["claude-code", ...remote, "--name", "file", "--token-file", path])
      await person.install(["claude-code", ...remote, "--name", "variable"], env)
      for (const transport of ["http", "ws"]) {
        const how = ["--transport", transport, "--name", transport]
        await person.install(["claude-code", ...remote, ...how], env)
      }

      const [known, unknown] = [
        await person.claude(["mcp", "list"], env),
        await person.claude(["mcp", "list"]),
      ]

      expect(connected(known.stdout)).toEqual(["file", "http", "variable", "ws"])
      expect(connected(unknown.stdout)).toEqual(["file"])
      expect(filesWith(person.home, token.slice(-20))).toEqual([path])
    },
  )

  testUnless(noClaude, "writes the same itself, by the command that is shown", async () => {
    await using person = new Person()
    await using other = new Person()
    const { stdout, stderr } = await person.install(["claude-code", "--state-dir", "/a b/it's"])
    const command = /^Or run: claude (.*)$/m.exec(stderr)?.[1] ?? ""

    const added = await other.shell(`"$CLAUDE" ${command}`)

    const written = JSON.parse(readFileSync(join(other.home, ".claude.json"), "utf8"))
    expect(added.exitCode).toBe(0)
    expect(written.mcpServers).toEqual(JSON.parse(stdout).mcpServers)
  })

  testUnless(noClaude, "sees an entry beside those it has written, and keeps them", async () => {
    await using person = new Person()
    await person.claude(["mcp", "add", "--scope", "user", "first", "--", "/bin/true"])

    const { exitCode } = await person.install(["claude-code", "--write", "--name", "second"])
    await person.claude(["mcp", "remove", "--scope", "user", "first"])

    const written = JSON.parse(readFileSync(join(person.home, ".claude.json"), "utf8"))
    expect(exitCode).toBe(0)
    expect(Object.keys(written.mcpServers)).toEqual(["second"])
  })
})
