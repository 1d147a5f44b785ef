import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from "bun:test"
import { join } from "node:path"
import { toolFolder } from "../../scripts/test-tools.ts"
import { CommandLine } from "../cli/command-line.ts"
import { fewIfShort } from "../support/scale.ts"
import { executable, Service } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { testUnless } from "../support/test-unless.ts"

setDefaultTimeout(60_000)

const bin = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
const folder = toolFolder("inspector")
const obstacle =
  folder === null
    ? "the MCP Inspector is not installed"
    : Bun.which("node") === null
      ? "needs node"
      : null

const steering = ["input", "pause", "resume", "cancel", "signal"]
const agents = ["start", "wait", "answer", "send", "interrupt", "status"].map(
  (name) => `agent_${name}`,
)
const works = ["run", "status", "verify"].map((name) => `work_${name}`)
const tools = [
  "start",
  "run",
  "wait",
  "output",
  "list",
  "verify",
  "receipt",
  ...steering,
  ...agents,
  ...works,
  "review_submit",
]

/** Runs the Inspector's command line once, and answers the result it prints. */
async function inspect(target: readonly string[], argv: readonly string[]) {
  using home = temporaryFolder()
  const options = ["--cli", "--format", "json", "--quiet", ...argv]
  const program = Bun.spawn(["node", join(folder ?? "", bin), ...options, ...target], {
    env: { PATH: process.env["PATH"] ?? "", HOME: home.path },
    cwd: home.path,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [stdout, stderr] = await Promise.all([program.stdout.text(), program.stderr.text()])
  const exitCode = await program.exited
  if (exitCode !== 0) throw new Error(`exit code ${exitCode}: ${stderr}${stdout}`)
  return JSON.parse(stdout).result
}

const doors = {
  async stdio() {
    const line = new CommandLine()
    const target = ["--", executable, "mcp", "--state-dir", line.stateDir]
    return { target, [Symbol.asyncDispose]: () => line[Symbol.asyncDispose]() }
  },
  async http() {
    const service = await Service.start()
    const target = ["--transport", "http", "--server-url", await service.url("/mcp")]
    return { target, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() }
  },
}

const ways = fewIfShort(2, [
  ["stdio", "legacy"],
  ["http", "modern"],
  ["stdio", "modern"],
  ["http", "legacy"],
] as const)

describe.each(ways)("the MCP Inspector over %s, %s revision", (door, era) => {
  let service: Awaited<ReturnType<(typeof doors)[typeof door]>>
  beforeAll(async () => {
    service = await doors[door]()
  })
  afterAll(() => service[Symbol.asyncDispose]())

  testUnless(obstacle, "lists every tool, and finds no fault with their schemas", async () => {
    const options = ["--protocol-era", era, "--method", "tools/list", "--strict"]

    const listed = await inspect(service.target, options)

    const names = listed.tools.map(({ name }: { name: string }) => name)
    expect(names.toSorted()).toEqual(tools.toSorted())
  })

  testUnless(obstacle, "runs a command and gets its output", async () => {
    const call = ["--method", "tools/call", "--tool-name", "run"]
    const args = ["--tool-args-json", JSON.stringify({ command: "echo hello" })]

    const result = await inspect(service.target, ["--protocol-era", era, ...call, ...args])

    expect(result.isError ?? false).toBe(false)
    expect(JSON.stringify(result.content)).toContain("hello")
  })
})
