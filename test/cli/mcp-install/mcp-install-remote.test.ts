import { describe, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { mcpHome, token } from "./mcp-home.ts"

describe("a service elsewhere by stdio", () => {
  const url = "ws://host.example/ws/mcp"

  test("is reached by cc-executor, with the token in its file", async () => {
    using at = mcpHome()
    const path = at.put(token, "ci.token")
    const argv = ["zed", "--url", "http://host.example/mcp", "--token-file", "ci.token"]
    const { stdout, stderr } = await at.install(argv)

    expect(JSON.parse(stdout).context_servers["cc-executor"].args).toEqual([
      "/src/main.ts",
      "mcp",
      "--url",
      url,
      "--token-file",
      path,
    ])
    expect(stdout + stderr).not.toContain(token.slice(-20))
  })

  test("gets the variable's token where the client passes variables on", async () => {
    using at = mcpHome()
    const argv = ["claude-code", "--url", "ws://host.example"]
    const { stdout } = await at.install(argv, { CC_EXECUTOR_TOKEN: token })

    expect(JSON.parse(stdout).mcpServers["cc-executor"]).toEqual({
      type: "stdio",
      command: "/bin/bun",
      args: ["/src/main.ts", "mcp", "--url", url],
      env: { CC_EXECUTOR_TOKEN: "${CC_EXECUTOR_TOKEN}" },
    })
  })

  test.each(["claude-desktop", "zed"])("needs a file with %s, which does not", async (client) => {
    using at = mcpHome()
    const argv = [client, "--url", "ws://host.example"]
    const refused = await at.install(argv, { CC_EXECUTOR_TOKEN: token })

    expect(refused).toMatchObject({ exitCode: 2, stdout: "" })
    expect(refused.stderr).toContain("use --token-file")
    expect(refused.stderr).not.toContain(token.slice(-20))
  })

  test("takes the file that a variable names, and says when there is no token", async () => {
    using at = mcpHome()
    const path = at.put(token, "ci.token")
    const argv = ["kiro", "--url", "ws://host.example"]
    const [with_, without] = [
      await at.install(argv, { CC_EXECUTOR_TOKEN_FILE: path }),
      await at.install(argv),
    ]

    expect(JSON.parse(with_.stdout).mcpServers["cc-executor"].args).toContain(path)
    expect(with_.stderr).not.toContain("No token")
    expect(without.stderr).toContain("No token was given")
  })

  test("keeps the path that a proxy has put before it", async () => {
    using at = mcpHome()
    const doors = ["https://h/exec", "https://h/exec/mcp", "wss://h/exec/ws/mcp", "wss://h/exec/"]
    for (const door of doors) {
      const by = async (transport: string) =>
        JSON.parse(
          (await at.install(["claude-code", "--url", door, "--transport", transport])).stdout,
        ).mcpServers["cc-executor"]

      expect((await by("stdio")).args).toContain("wss://h/exec/ws/mcp")
      expect((await by("ws")).url).toBe("wss://h/exec/ws/mcp")
      expect((await by("http")).url).toBe("https://h/exec/mcp")
    }
  })
})

describe("mcp install refuses", () => {
  test.each([["ws://user:hunter2@host"], ["ws://host/?token=hunter2"], ["ws://host#hunter2"]])(
    "a secret in the address: %s",
    async (url) => {
      using at = mcpHome()
      const refused = await at.install(["claude-code", "--write", "--url", url])

      expect(refused).toMatchObject({ exitCode: 2, stdout: "" })
      expect(refused.stderr).not.toContain("hunter2")
      expect(readdirSync(at.path)).toEqual([])
    },
  )

  test.each([
    [["--token-file", "x"], "--token-file is for --transport stdio"],
    [["--state-dir", "/x"], "--state-dir is for --transport stdio"],
    [["--ca-file", "/x"], "--ca-file is for --transport stdio"],
  ])("%j where the client itself connects", async (options, message) => {
    using at = mcpHome()
    const refused = await at.install(["cursor", "--transport", "http", ...options])

    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toContain(message)
  })

  test("an address that needs a token, for a client that has nowhere to take it from", async () => {
    using at = mcpHome()
    const argv = ["zed", "--transport", "http", "--url", "http://host.example"]
    const refused = await at.install(argv)

    expect(refused).toMatchObject({ exitCode: 2, stdout: "" })
    expect(refused.stderr).toContain(
      "mcp install zed --url http://host.example/mcp --token-file FILE",
    )
  })

  test("a token file that holds none", async () => {
    using at = mcpHome()
    const missing = await at.install(["zed", "--url", "ws://h", "--token-file", "none"])
    at.put(token.slice(0, 40), "half")
    const half = await at.install(["zed", "--url", "ws://h", "--token-file", "half"])

    expect(missing.stderr).toContain("cannot be read (ENOENT)")
    expect(half.stderr).toContain("the token is incomplete or mistyped")
  })
})

describe("the state directory", () => {
  test("is named where it is not the usual one, since clients pass few variables on", async () => {
    using at = mcpHome()
    const args = async (argv: string[], env: Record<string, string> = {}) =>
      JSON.parse((await at.install(["kiro", ...argv], env)).stdout).mcpServers["cc-executor"].args

    expect(await args(["--state-dir", "/s"])).toEqual(["/src/main.ts", "mcp", "--state-dir", "/s"])
    expect(await args([], { CC_EXECUTOR_STATE_DIR: "/e" })).toContain("/e")
    expect(await args([], { XDG_STATE_HOME: "/x" })).toContain("/x/cc-executor")
    expect(await args([])).not.toContain("--state-dir")
  })
})
