import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { CommandLine } from "../cli/command-line.ts"
import { callTool, eras, mcpClient, ProgramTransport } from "../support/bridge-clients.ts"
import { executable, isRunning, Service } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { until } from "../support/until.ts"

const request = (id: number, method: string, params: object = {}) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params })
const opening = request(1, "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
})

let service: Service
/** One whose gateway is killed. */
let harmed: Service
beforeAll(async () => {
  service = await Service.start()
  harmed = await Service.start()
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await harmed[Symbol.asyncDispose]()
})

describe("cc-executor mcp without a service", () => {
  test("starts one, answers, and leaves it what it runs", async () => {
    await using terminal = new CommandLine()
    const script = "echo before; sleep 1; echo after"
    const start = request(2, "tools/call", { name: "start", arguments: { command: script } })

    const ready = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
    const input = `${opening}\n${ready}\n${start}\n`
    const { exitCode, stdout } = await terminal.run(["mcp"], { input })

    const answers = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(exitCode).toBe(0)
    expect(answers.map(({ id }) => id)).toEqual([1, 2])
    const id = answers[1].result.structuredContent.execution_id
    await terminal.run(["wait", id])
    expect(await terminal.stdout("logs", id)).toBe("before\nafter")
  })

  test("answers what cannot be served with the words it has for people", async () => {
    using folder = temporaryFolder()
    const file = join(folder.path, "file")
    writeFileSync(file, "")
    await using terminal = new CommandLine()

    const stateDir = join(file, "state")
    const ended = await terminal.run(["mcp", "--state-dir", stateDir], { input: `${opening}\n` })

    const [line = ""] = ended.stdout.trim().split("\n")
    expect(JSON.parse(line)).toMatchObject({ id: 1, error: { code: -32000 } })
    expect(JSON.parse(line).error.message).toContain(`${stateDir} cannot be used (ENOTDIR)`)
    expect(ended.stderr).toContain(`${stateDir} cannot be used (ENOTDIR)`)
    expect(ended.exitCode).toBe(0)
  })
})

describe("cc-executor mcp and a service with an allow-list", () => {
  test("send nothing of the client's environment, which the list would refuse", async () => {
    await using strict = await Service.start({ flags: { "allowed-commands": "env" } })
    const command = [executable, "mcp", "--state-dir", strict.stateDir]
    await using transport = new ProgramTransport(["env", "OF_THE_CLIENT=1", ...command])
    const client = await mcpClient("legacy", transport)

    const said = await callTool(client, "run", { argv: ["env"], env: { LANG: "C" } })

    expect(said).toContain("LANG=C")
    expect(said).not.toContain("OF_THE_CLIENT")
    await client.close()
  })
})

describe.each(eras)("a gateway that is killed, and a client of the %s era", (era) => {
  test("is noticed by nobody: the call under way is answered, and was made once", async () => {
    using folder = temporaryFolder()
    const notes = join(folder.path, "notes")
    await using transport = new ProgramTransport([
      executable,
      "mcp",
      "--state-dir",
      harmed.stateDir,
    ])
    const client = await mcpClient(era, transport)
    const wait = `until [ -e ${notes}.go ]; do sleep 0.05; done`
    const script = `echo began >> ${notes}; ${wait}; echo done`

    const call = callTool(client, "run", { command: script })
    await until("it runs", () => Bun.file(notes).exists())
    const killed = harmed.gatewayPid
    process.kill(killed, "SIGKILL")
    await until("it is gone", () => !isRunning(killed))
    writeFileSync(`${notes}.go`, "")

    expect(await call).toContain("done")
    expect(readFileSync(notes, "utf8")).toBe("began\n")
    expect((await client.listTools()).tools.length).toBeGreaterThan(5)
    expect(transport.lines.every((line) => JSON.parse(line).jsonrpc === "2.0")).toBe(true)
    await client.close()
  })
})

describe("a gateway that is killed again and again", () => {
  test("loses no call of many", async () => {
    await using transport = new ProgramTransport([
      executable,
      "mcp",
      "--state-dir",
      harmed.stateDir,
    ])
    const client = await mcpClient("legacy", transport)

    const calls = Array.from({ length: 10 }, (_, index) =>
      callTool(client, "run", { command: `sleep 3; echo number ${index}`, labels: { many: "1" } }),
    )
    for (let deaths = 0; deaths < 3; deaths += 1) {
      const killed = harmed.gatewayPid
      process.kill(killed, "SIGKILL")
      await until("another gateway", () => isAnother(harmed, killed))
    }
    const texts = await Promise.all(calls)

    expect(texts.map((text, index) => text.includes(`number ${index}`))).toEqual(
      Array.from({ length: 10 }, () => true),
    )
    const { structuredContent } = await client.callTool({
      name: "list",
      arguments: { labels: { many: "1" } },
    })
    expect(structuredContent).toMatchObject({ executions: { length: 10 } })
    await client.close()
  }, 60_000)

  test("does not end the news of a resource that was subscribed to", async () => {
    await using transport = new ProgramTransport([
      executable,
      "mcp",
      "--state-dir",
      harmed.stateDir,
    ])
    const client = await mcpClient("legacy", transport)
    const updates: string[] = []
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      updates.push(params.uri)
    })
    const { structuredContent } = await client.callTool({
      name: "start",
      arguments: { command: "read line; echo got $line", stdin: "pipe" },
    })
    const id: string = JSON.parse(JSON.stringify(structuredContent)).execution_id
    const { resources } = await client.listResources()
    const uri = resources.find((resource) => resource.uri.includes(id))?.uri ?? ""
    await client.subscribeResource({ uri })

    const killed = harmed.gatewayPid
    process.kill(killed, "SIGKILL")
    await until("another gateway", () => isAnother(harmed, killed))
    await callTool(client, "input", { execution_id: id, text: "it\n", writer: "w1", offset: 0 })

    await until("an update", () => updates.includes(uri))
    await client.close()
  })
})

describe("where and with what a call runs that does not say", () => {
  test("is where the client is, with its variables", async () => {
    using folder = temporaryFolder()
    const here = join(folder.path, "here")
    mkdirSync(here)
    const env = { ...process.env, MARK: "of the client", CC_EXECUTOR_TOKEN: "cce_secret" }
    const program = ["/bin/sh", "-c", `cd ${here} && exec "$0" "$@"`, executable, "mcp"]
    const argv = [...program, "--state-dir", service.stateDir]
    await using transport = new ProgramTransport(argv, env)
    const client = await mcpClient("modern", transport)

    const script = 'pwd; echo "$MARK"; echo "[$CC_EXECUTOR_TOKEN]"; cd /; pwd'
    const told = await callTool(client, "run", { command: script })
    const elsewhere = await callTool(client, "run", { command: "pwd", cwd: "/" })

    expect(told).toContain(`${here}\nof the client\n[]\n/\n`)
    expect(elsewhere).toContain("\n/\n")
    await client.close()
  })

  test("is the service's own business when it is remote", async () => {
    const env = { ...process.env, MARK: "of the client" }
    const argv = [executable, "mcp", "--url", await service.url()]
    await using transport = new ProgramTransport(argv, env)
    const client = await mcpClient("modern", transport)

    expect(await callTool(client, "run", { command: 'echo "[$MARK]"' })).toContain("[]\n")
    await client.close()
  })
})

describe("a service that was ended on purpose", () => {
  test("is not started again by a client that asks nothing, but by one that does", async () => {
    await using terminal = new CommandLine()
    await using transport = new ProgramTransport([executable, "mcp"], terminal.env())
    const client = await mcpClient("legacy", transport)
    const first = terminal.keeperPid

    await terminal.run(["stop"])
    expect(isRunning(first)).toBe(false)
    await until("the client has noticed", () => transport.said.includes("was lost"))
    const { exitCode } = await terminal.run(["stop"])
    expect(exitCode).toBe(0) // there was none to end

    expect((await client.listTools()).tools.length).toBeGreaterThan(5)
    expect(terminal.keeperPid).not.toBe(first)
    await client.close()
  }, 60_000)
})

describe("what is no message", () => {
  test("is answered as such, and what follows it is served", async () => {
    await using transport = new ProgramTransport([
      executable,
      "mcp",
      "--state-dir",
      service.stateDir,
    ])
    await transport.start()

    await transport.write(`garbage\n[]\n{"id":7}\n\n${opening}\n`)
    await until("four answers", () => transport.lines.length === 4)

    const answers = transport.lines.map((line) => JSON.parse(line))
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
      [null, -32700],
      [null, -32600],
      [7, -32600],
      [1, undefined],
    ])
    await transport.close()
    expect(transport.program.exitCode).toBe(0)
  })
})

function isAnother({ stateDir }: Service, killed: number): boolean {
  const trees = readFileSync(join(stateDir, "trees.json"), "utf8")
  const pid: number | undefined = JSON.parse(trees).gateway?.pid
  return pid !== undefined && pid !== killed
}
