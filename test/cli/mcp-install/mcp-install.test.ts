import { describe, expect, test } from "bun:test"
import { mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { mcpClients } from "../../../src/cli/mcp-install/clients.ts"
import { mcpHome, stdio, token } from "./mcp-home.ts"

describe("mcp install shows what a client needs", () => {
  const local = { url: "http://127.0.0.1:8003/mcp" }
  const remote = "https://host.example:8003/mcp"
  const bearer = (value: string) => ({ headers: { Authorization: `Bearer ${value}` } })
  const dollar = "${CC_EXECUTOR_TOKEN}"
  const named = "${env:CC_EXECUTOR_TOKEN}"
  const asked = "${input:cc-executor-token}"

  test.each([
    ["claude-code", "mcpServers", { type: "stdio", ...stdio }],
    ["claude-desktop", "mcpServers", stdio],
    ["cursor", "mcpServers", { type: "stdio", ...stdio }],
    ["vscode", "servers", { type: "stdio", ...stdio }],
    ["windsurf", "mcpServers", stdio],
    ["zed", "context_servers", { ...stdio, env: {} }],
    ["gemini-cli", "mcpServers", stdio],
    ["copilot-cli", "mcpServers", { type: "local", ...stdio, tools: ["*"] }],
    ["kiro", "mcpServers", stdio],
  ])("%s, by stdio", async (client, root, entry) => {
    using at = mcpHome()
    const { exitCode, stdout } = await at.install([client])

    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toEqual({ [root]: { "cc-executor": entry } })
  })

  test.each([
    ["claude-code", "mcpServers", { type: "http", ...local }],
    ["cursor", "mcpServers", local],
    ["vscode", "servers", { type: "http", ...local }],
    ["windsurf", "mcpServers", { serverUrl: local.url }],
    ["zed", "context_servers", local],
    ["gemini-cli", "mcpServers", { httpUrl: local.url }],
    ["copilot-cli", "mcpServers", { type: "http", ...local, tools: ["*"] }],
    ["kiro", "mcpServers", local],
  ])("%s, for the service of this machine by HTTP", async (client, root, entry) => {
    using at = mcpHome()
    const { stdout, stderr } = await at.install([client, "--transport", "http"])

    expect(JSON.parse(stdout)).toEqual({ [root]: { "cc-executor": entry } })
    expect(stderr).toContain("`cc-executor serve`")
  })

  test.each([
    ["claude-code", { type: "http", url: remote, ...bearer(dollar) }],
    ["cursor", { url: remote, ...bearer(named) }],
    ["windsurf", { serverUrl: remote, ...bearer(named) }],
    ["gemini-cli", { httpUrl: remote, ...bearer(dollar) }],
    ["copilot-cli", { type: "http", url: remote, ...bearer(dollar), tools: ["*"] }],
    ["kiro", { url: remote, ...bearer(dollar) }],
  ])("%s, for a service elsewhere by HTTP, its token in a variable", async (client, entry) => {
    using at = mcpHome()
    const argv = [client, "--transport", "http", "--url", "wss://host.example:8003"]
    const { stdout, stderr } = await at.install(argv, { CC_EXECUTOR_TOKEN: token })

    expect(JSON.parse(stdout)).toEqual({ mcpServers: { "cc-executor": entry } })
    expect(stderr).toContain("must be started with the token in the variable CC_EXECUTOR_TOKEN")
    expect(stdout + stderr).not.toContain(token.slice(-20))
  })

  test("vscode, which asks for the token itself", async () => {
    using at = mcpHome()
    const { stdout } = await at.install(["vscode", "--transport", "http", "--url", remote])

    expect(JSON.parse(stdout)).toEqual({
      inputs: [
        {
          type: "promptString",
          id: "cc-executor-token",
          description: expect.any(String),
          password: true,
        },
      ],
      servers: { "cc-executor": { type: "http", url: remote, ...bearer(asked) } },
    })
  })

  test("codex, in TOML, with names of variables", async () => {
    using at = mcpHome()
    const http = ["codex", "--transport", "http", "--url", remote]
    const env = { CC_EXECUTOR_TOKEN: token, CC_EXECUTOR_URL: "http://host.example" }
    const [one, other] = [await at.install(http), await at.install(["codex"], env)]

    expect(Bun.TOML.parse(one.stdout)).toEqual({
      mcp_servers: {
        "cc-executor": { url: remote, bearer_token_env_var: "CC_EXECUTOR_TOKEN" },
      },
    })
    expect(Bun.TOML.parse(other.stdout)).toEqual({
      mcp_servers: {
        "cc-executor": {
          command: "/bin/bun",
          args: ["/src/main.ts", "mcp", "--url", "ws://host.example/ws/mcp"],
          env_vars: ["CC_EXECUTOR_TOKEN"],
        },
      },
    })
  })

  test("claude-code by WebSocket, and the command that does the same", async () => {
    using at = mcpHome()
    const { stdout, stderr } = await at.install(["claude-code", "--transport", "ws"])

    const entry = { type: "ws", url: "ws://127.0.0.1:8003/ws/mcp" }
    expect(JSON.parse(stdout)).toEqual({ mcpServers: { "cc-executor": entry } })
    expect(stderr).toContain(
      `claude mcp add-json --scope user cc-executor '${JSON.stringify(entry)}'`,
    )
  })

  test("and says where it belongs, without writing anything", async () => {
    using at = mcpHome()
    for (const { name } of mcpClients) await at.install([name])

    expect((await at.install(["kiro"])).stderr).toContain(at.file(".kiro/settings/mcp.json"))
    expect(readdirSync(at.path)).toEqual([])
  })
})

describe("mcp install without a client", () => {
  test.each([[[]], [["--list"]]])("%j lists them, and which are in use here", async (argv) => {
    using at = mcpHome()
    mkdirSync(at.file(".cursor"))
    const { exitCode, stdout } = await at.install(argv)

    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^CLIENT +HERE +TRANSPORTS +SCOPES +FILE$/m)
    expect(stdout).toMatch(/^cursor +yes +stdio,http +user,project /m)
    expect(stdout).toMatch(/^windsurf +no +stdio,http +user /m)
    for (const { name } of mcpClients) expect(stdout).toContain(`\n${name} `)
  })
})

describe("docs/mcp.md", () => {
  const text = readFileSync(join(import.meta.dir, "../../../docs/mcp.md"), "utf8")
  const world = { env: {}, home: "~", cwd: "" }

  test.each(mcpClients.map((client) => [client.name, client] as const))(
    "says of %s what the command does",
    (name, client) => {
      const { files, transports, inputs } = client
      const paths = [files.user, files.project].flatMap((path) =>
        path === undefined ? [] : [`\`${path(world)}\``],
      )
      const takes = client.token === null ? "no" : inputs === undefined ? "yes" : "it asks for it"

      expect(text).toContain(
        `\n| \`${name}\` | ${paths.join(", ")} | ${transports.join(", ")} | ${takes} |\n`,
      )
    },
  )

  test("has lines that fit a terminal", () => {
    expect(text.split("\n").filter((line) => line.length > 100)).toEqual([])
  })
})
