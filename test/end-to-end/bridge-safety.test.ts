import { describe, expect, test } from "bun:test"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { CommandLine } from "../cli/command-line.ts"
import { answerTo, noOtherUsers } from "../support/as-user.ts"
import { SocketTransport } from "../support/bridge-clients.ts"
import { BridgeProcess } from "../support/bridge-process.ts"
import { BridgeTalk } from "../support/bridge-talk.ts"
import { exampleOverSocket } from "../support/example-server.ts"
import { HttpSession } from "../support/http-session.ts"
import { isRunning } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { testUnless } from "../support/test-unless.ts"
import { until } from "../support/until.ts"

const ping = { jsonrpc: "2.0", id: 1, method: "ping" }

describe.each(["http", "ws"])("a bridge that listens on %s", (listen) => {
  test.each([
    ["a page of another site", { origin: "https://evil.example" }],
    ["a page of another port", { origin: "http://127.0.0.1:1" }],
    ["a page without an Origin", { "sec-fetch-site": "cross-site" }],
    ["a name that was made to lead here", { host: "evil.example" }],
  ])("does not serve %s", async (_, headers) => {
    using target = exampleOverSocket()
    await using bridge = await BridgeProcess.start(["--listen", `${listen}:0`, "--to", target.url])
    const url = await bridge.listening

    const upgrade = { upgrade: "websocket", connection: "Upgrade" }
    const asked = { ...headers, ...(listen === "ws" ? upgrade : {}) }
    const refused = await new HttpSession(url.replace(/^ws/, "http")).post(ping, asked)

    expect(refused.status).toBe(403)
    expect(await refused.text()).toContain("Origin or Host")
    expect(target.opened()).toBe(0)
  })

  testUnless(noOtherUsers, "does not serve another user of this machine", async () => {
    using folder = temporaryFolder()
    const file = join(folder.path, "token")
    writeFileSync(file, "the-clients-token\n")
    using target = exampleOverSocket()
    const argv = ["--listen", `${listen}:0`, "--to", target.url, "--client-token-file", file]
    await using bridge = await BridgeProcess.start(argv)
    const url = new URL((await bridge.listening).replace(/^ws/, "http"))
    const knock = (authorization?: string) =>
      answerTo(url, {
        uid: 65_534,
        path: "/",
        headers: authorization === undefined ? {} : { Authorization: authorization },
      })

    expect(await knock()).toContain("401")
    expect(await knock("Bearer wrong")).toContain("401")
    expect(await knock("Bearer the-clients-token")).not.toContain("401")
  })

  test("does not believe a wrong token of its own user", async () => {
    using target = exampleOverSocket()
    await using bridge = await BridgeProcess.start(["--listen", `${listen}:0`, "--to", target.url])
    const url = (await bridge.listening).replace(/^ws/, "http")

    const refused = await new HttpSession(url).post(ping, { authorization: "Bearer x" })

    expect(refused.status).toBe(401)
    expect(await refused.text()).not.toContain("token create")
  })

  test("serves the path it was given, and no other", async () => {
    using target = exampleOverSocket()
    const address = `${listen}://127.0.0.1:0/mcp`
    await using bridge = await BridgeProcess.start(["--listen", address, "--to", target.url])
    const url = await bridge.listening
    const other = new URL("/other", url.replace(/^ws/, "http")).href

    expect(new URL(url).pathname).toBe("/mcp")
    expect((await new HttpSession(other).post(ping)).status).toBe(404)
  })

  test("writes nothing to standard output, and says once where it listens", async () => {
    using target = exampleOverSocket()
    const bridge = await BridgeProcess.start(["--listen", `${listen}:0`, "--to", target.url])

    await bridge[Symbol.asyncDispose]()

    expect(await bridge.output()).toBe("")
    expect(await bridge.exited).toBe(0)
    expect(bridge.said.filter((line) => line.includes("cc-executor: listening on"))).toHaveLength(1)
  })
})

describe("a bridge on a WebSocket", () => {
  test("speaks mcp, and no other subprotocol", async () => {
    using target = exampleOverSocket()
    await using bridge = await BridgeProcess.start(["--listen", "ws:0", "--to", target.url])
    const socket = new WebSocket(await bridge.listening, { protocols: ["other"] })

    const { promise, resolve } = Promise.withResolvers<string>()
    socket.addEventListener("open", () => resolve("opened"))
    socket.addEventListener("close", () => resolve("refused"))

    expect(await promise).toBe("refused")
    const transport = new SocketTransport(await bridge.listening)
    await transport.start()
    await transport.close()
  })
})

describe("a command line that cannot be right", () => {
  test.each([
    [["--listen", "http://0.0.0.0:0", "--to", "ws://h"], "--client-token-file"],
    [["--listen", "ftp", "--to", "ws://h"], "is not valid: use stdio"],
    [["--listen", "http://some.name:1", "--to", "ws://h"], "is a host name"],
    [["--listen", "http:99999", "--to", "ws://h"], "is not valid: use stdio"],
    [["--to", "ftp://h"], "is not a target"],
    [["--to", "ws://user:hunter2@h/"], "--token-file"],
    [["--to", "stdio: a | b"], "is not a plain command"],
    [["--to", "ws://h", "--", "cat"], "two targets"],
    [[], "target is missing"],
    [["--to", "ws://h", "--circuit-failures", "0"], "--circuit-failures"],
    [["--to", "ws://h", "--log-level", "loud"], "--log-level"],
    [["--to", "http://h", "--token-file", "/nonexistent"], "cannot be read"],
  ])("%j says why", async (argv, why) => {
    await using terminal = new CommandLine()

    const { exitCode, stderr, stdout } = await terminal.run(["bridge", ...argv])

    expect(stderr).toContain(why)
    expect(stderr).not.toContain("hunter2")
    expect(stdout).toBe("")
    expect(exitCode).toBeGreaterThan(0)
  })

  test("says so when the port is taken", async () => {
    using target = exampleOverSocket()
    await using terminal = new CommandLine()
    const { port } = new URL(target.url)

    const { exitCode, stderr } = await terminal.run([
      "bridge",
      "--listen",
      `ws:${port}`,
      "--to",
      "ws://h",
    ])

    expect(stderr).toContain(`port ${port} is in use`)
    expect(exitCode).toBe(1)
  })
})

describe("the log of a bridge", () => {
  test("has every failure, and nothing of what was said", async () => {
    using folder = temporaryFolder()
    const file = join(folder.path, "log")
    const argv = ["--to", "ws://127.0.0.1:1/", "--retry-for", "200ms", "--log-file", file]
    await using talk = new BridgeTalk(argv)

    await talk.ask("tools/call", { name: "pay", arguments: { card: "4111-1111" } })
    await talk.transport.close()

    const lines = readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    const messages = lines.map(({ msg }) => msg)
    expect(messages).toContain("target cannot be reached")
    expect(messages).toContain("request failed at the bridge")
    expect(readFileSync(file, "utf8")).not.toContain("4111")
    expect(talk.transport.said).toBe("")
  })
})

describe("a server that does not want to end", () => {
  const script = (file: string) =>
    `trap '' TERM; (trap '' TERM; echo $BASHPID > ${file}; while :; do sleep 1; done) & ` +
    "while :; do sleep 1; done"

  test.each(["end of input", "SIGTERM"])(
    "ends with the bridge, and its children: %s",
    async (how) => {
      using folder = temporaryFolder()
      const file = join(folder.path, "pid")
      const talk = new BridgeTalk(["--", "bash", "-c", script(file)])
      await talk.send(JSON.stringify(ping))
      await until("it runs", () => existsSync(file) && readFileSync(file, "utf8").trim() !== "")
      const pid = Number(readFileSync(file, "utf8"))

      if (how === "SIGTERM") await talk[Symbol.asyncDispose]()
      else await talk.transport.close()

      // It was killed before the bridge ended; the kernel may need a moment on a busy machine.
      await until("it is gone", () => !isRunning(pid))
      expect(talk.transport.program.exitCode).toBe(0)
    },
    60_000,
  )
})
