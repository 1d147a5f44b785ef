import { describe, expect, test } from "bun:test"
import { readArguments } from "../../src/cli/arguments.ts"
import { commands, findCommand } from "../../src/cli/commands.ts"
import { dispatch } from "../../src/cli/dispatch.ts"
import { fakeContext } from "./fake-context.ts"

describe.each(commands.map((entry) => [entry.name, entry] as const))(
  "cc-executor %s",
  (name, entry) => {
    test("--help says how it is used, with an example", async () => {
      const context = fakeContext()

      expect(await dispatch(context, [...name.split(" "), "--help"])).toBe(0)

      const text = context.stdout.text()
      expect(text).toContain(`Usage: cc-executor ${name}`)
      expect(text).toContain("--help")
      expect(text).toMatch(/Examples:\n {2}# .+\n {2}.*cc-executor/)
      expect(context.stderr.text()).toBe("")
    })

    test("has examples that its own options understand", async () => {
      const { help } = await entry.load()
      for (const command of Object.values(help.examples)) {
        const words = new RegExp(`cc-executor ${name}(?: (.*?))?(?: (?:&&|[|<>]) .*|\\))?$`).exec(
          command,
        )
        expect(words).not.toBeNull()
        const argv = (words?.[1] ?? "").split(" ").filter((word) => word !== "")
        if (name !== "serve") readArguments(argv, help.options, name === "run")
      }
    })

    test("refuses an option that it does not have, with exit code 2", async () => {
      const context = fakeContext()

      expect(await dispatch(context, [...name.split(" "), "--no-such-option"])).toBe(2)

      expect(context.stderr.text()).toContain("--no-such-option")
      expect(context.stderr.text()).toContain(`cc-executor ${name} --help`)
      expect(context.stdout.text()).toBe("")
    })
  },
)

describe("the command line", () => {
  test.each([[["help"]], [["--help"]], [["-h"]]])("%j lists every command", async (argv) => {
    const context = fakeContext()

    expect(await dispatch(context, argv)).toBe(0)
    for (const { name, summary } of commands) {
      expect(context.stdout.text()).toMatch(new RegExp(`^ {2}${name} +${summary}$`, "m"))
    }
  })

  test("help COMMAND is COMMAND --help", async () => {
    const [one, other] = [fakeContext(), fakeContext()]

    expect(await dispatch(one, ["help", "run"])).toBe(0)
    expect(await dispatch(other, ["run", "--help"])).toBe(0)
    expect(one.stdout.text()).toBe(other.stdout.text())
  })

  test.each([[["token", "--help"]], [["help", "token"]]])("%j lists its family", async (argv) => {
    const context = fakeContext()

    expect(await dispatch(context, argv)).toBe(0)
    expect(context.stdout.text()).toMatch(/^ {2}token revoke +revoke tokens, and disconnect/m)
    expect(context.stdout.text()).not.toContain("doctor")
  })

  test("the first word of two alone says what may follow, with exit code 2", async () => {
    const context = fakeContext()

    expect(await dispatch(context, ["token"])).toBe(2)
    expect(context.stderr.text()).toContain("token create")
    expect(context.stdout.text()).toBe("")
  })

  test("help of two words is help of that command", async () => {
    const [one, other] = [fakeContext(), fakeContext()]

    expect(await dispatch(one, ["help", "token", "create"])).toBe(0)
    expect(await dispatch(other, ["token", "create", "--help"])).toBe(0)
    expect(one.stdout.text()).toBe(other.stdout.text())
  })

  test("a command of two words comes before one of the first word alone", () => {
    const found = findCommand(["mcp", "install", "cursor", "--write"])

    expect(found?.entry.name).toBe("mcp install")
    expect(found?.rest).toEqual(["cursor", "--write"])
    for (const { name } of commands) {
      expect(findCommand([...name.split(" "), "--json"])).toMatchObject({
        entry: { name },
        rest: ["--json"],
      })
    }
  })

  test.each([
    [["rnu"], "Unknown command: rnu. Did you mean `cc-executor run`?"],
    [["zzzzzzzz"], "Unknown command: zzzzzzzz. See `cc-executor help`."],
    [["help", "attahc"], "Did you mean `cc-executor attach`?"],
    [["--url", "x", "ps"], "must come after the command, not before it"],
    [["tokne"], "Unknown command: tokne. Did you mean `cc-executor token`?"],
    [["token", "crate"], "Unknown command: token crate. Did you mean `cc-executor token create`?"],
    [["token", "--json", "list"], "--json must come after the command"],
    [["token", "create"], "--name is missing: give the token a name."],
    [["token", "create", "--name", "local"], "are reserved"],
    [["token", "create", "--name", "Cert-1"], "are reserved"],
    [["token", "create", "--name", "a b"], '"a b" is not valid'],
    [["token", "create", "--name", "a", "--scope", "read,write"], '"write" is not a scope'],
    [["token", "create", "--name", "a", "--scope", ""], '"" is not a scope'],
    [["token", "create", "--name", "a", "--ttl", "0"], "is not a duration"],
    [["token", "create", "--name", "a", "--ttl", "40000d"], "is too long"],
    [["token", "create", "extra", "--name", "a"], "Unexpected argument: extra."],
    [["token", "revoke"], "The token's id or name is missing."],
    [["token", "revoke", "--all", "ci"], "Use either --all or"],
    [["rm"], "The execution id is missing."],
    [["attach", "a", "b"], "Unexpected argument: b."],
    [["run"], "The command to run is missing"],
    [["run", "--timeout", "soon", "ls"], '"soon" is not a duration'],
    [["run", "--env", "=x", "ls"], "NAME=VALUE"],
    [["run", "--shell", "a", "b"], 'Unexpected: "b"'],
    [["ps", "--state", "dead"], "Unknown state: dead"],
    [["ps", "--url", "x", "--state-dir", "/y"], "two services"],
    [["ps", "--token-file", "x"], "--token-file needs --url"],
    [["ps", "--state-dir", "y"], "absolute path"],
    [["logs", "--stream", "stdin", "a"], "use stdout or stderr"],
    [["logs", "--since", "yesterdayish", "a"], "is not a time"],
    [["logs", "--tail", "many", "a"], "is not a number"],
    [["send", "a"], "Nothing to send"],
    [["signal", "SIGNONE", "a"], "Unknown signal: SIGNONE"],
    [["prune", "--all", "--older-than", "1d"], "Use either --all or --older-than"],
    [["verify"], "is missing"],
    [["verify", "--transcript", "/x", "a"], "--transcript needs --receipt"],
    [["mcp", "install", "curser"], "Unknown client: curser. Did you mean cursor?"],
    [["mcp", "install", "emacs"], "Unknown client: emacs. Known clients: claude-code, "],
    [
      ["mcp", "install", "zed", "--transport", "ws"],
      "Zed does not support ws: use --transport stdio or",
    ],
    [
      ["mcp", "install", "zed", "--transport", "tcp"],
      '"tcp" is not a transport: use stdio, http, ws',
    ],
    [["mcp", "install", "windsurf", "--scope", "project"], "does not support project servers"],
    [["mcp", "install", "zed", "--scope", "all"], '"all" is not a scope'],
    [["mcp", "install", "zed", "--name", "a.b"], '"a.b" is not valid'],
    [["mcp", "install", "zed", "--force"], "--force needs --write"],
    [["mcp", "install", "zed", "--url", "ftp://x"], '"ftp://x" is not a service address'],
    [["mcp", "install", "zed", "--url", "ws://x", "--state-dir", "/y"], "two services"],
    [["mcp", "install", "zed", "--token-file", "x"], "--token-file needs --url"],
    [["mcp", "install", "zed", "cursor"], "Unexpected argument: cursor."],
    [["serve", "--prot", "1"], "did you mean --port?"],
    [["serve", "extra"], "Unexpected argument: extra."],
  ])("%j is refused with exit code 2", async (argv, message) => {
    const context = fakeContext()

    expect(await dispatch(context, argv)).toBe(2)
    expect(context.stderr.text()).toStartWith("cc-executor: ")
    expect(context.stderr.text()).toContain(message)
    expect(context.stdout.text()).toBe("")
  })

  test("without a command says what there is, with exit code 2", async () => {
    const context = fakeContext()

    expect(await dispatch(context, [])).toBe(2)
    expect(context.stderr.text()).toContain("Usage: cc-executor COMMAND")
  })

  test("says its version to people and to programs", async () => {
    const [text, short, json] = [fakeContext(), fakeContext(), fakeContext()]

    expect(await dispatch(text, ["version"])).toBe(0)
    expect(await dispatch(short, ["--version"])).toBe(0)
    expect(await dispatch(json, ["version", "--json"])).toBe(0)

    expect(text.stdout.text()).toStartWith("cc-executor 1.2.3 (abc of 2026-01-02, Bun ")
    expect(short.stdout.text()).toBe(text.stdout.text())
    expect(JSON.parse(json.stdout.text())).toMatchObject({
      version: "1.2.3",
      commit: "abc",
      built: "2026-01-02T03:04:05Z",
    })
  })

  test("ends quietly when nobody reads its output any more", async () => {
    const context = fakeContext()
    context.stdout.break()

    expect(await dispatch(context, ["version"])).toBe(0)
    expect(context.stderr.text()).toBe("")
  })
})

describe("without a service and without a state directory", () => {
  const options = ["--state-dir", "/home/user/no-such-directory"]

  test("ps shows an empty table and says so beside it", async () => {
    const context = fakeContext()

    expect(await dispatch(context, ["ps", "-a", ...options])).toBe(0)
    expect(context.stdout.text()).toBe("ID  STATE  AGE  TIME  EXIT  OUTPUT  COMMAND\n")
    expect(context.stderr.text()).toContain("No service is running")
  })

  test("ps --json is still one document", async () => {
    const context = fakeContext()

    expect(await dispatch(context, ["ps", "--json", ...options])).toBe(0)
    expect(JSON.parse(context.stdout.text())).toEqual({ executions: [] })
  })

  test.each([
    [["logs", "a"], 1],
    [["receipt", "a"], 1],
    [["cancel", "a"], 1],
    [["rm", "a"], 1],
    [["attach", "a"], 125],
    [["wait", "a"], 125],
  ])("%j fails, starts nothing and says how to start one", async (argv, exitCode) => {
    const context = fakeContext()

    expect(await dispatch(context, [...argv, ...options])).toBe(exitCode)
    expect(context.stderr.text()).toContain("No service is running. `cc-executor run -- COMMAND`")
  })

  test("stop has nothing to do, and healthcheck fails", async () => {
    const [stop, health] = [fakeContext(), fakeContext()]

    expect(await dispatch(stop, ["stop", ...options])).toBe(0)
    expect(await dispatch(health, ["healthcheck", ...options])).toBe(1)
    expect(stop.stderr.text()).toContain("No service is running")
    expect(health.stderr.text()).toContain("no service answers (ENOENT)")
  })
})
