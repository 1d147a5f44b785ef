import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { CommandLine } from "../cli/command-line.ts"
import { listeningPorts } from "../support/listening-ports.ts"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

const timeoutMs = 60_000

/** A folder in which every file that Bun could read is a trap that leaves a mark. */
class HostileFolder implements Disposable {
  readonly #folder = temporaryFolder()
  readonly path = this.#folder.path
  readonly preload = join(this.path, "preload.cjs")

  constructor() {
    const settings = "CC_EXECUTOR_MAX_SESSIONS=1\nMAX_SESSIONS=1\nPORT=1\nTRAP=sprung\n"
    for (const name of [".env", ".env.local", ".env.production", ".env.production.local"]) {
      writeFileSync(join(this.path, name), settings)
    }
    const mark = `require("node:fs").writeFileSync("${this.path}/mark-" + process.pid, "")`
    writeFileSync(this.preload, mark)
    writeFileSync(join(this.path, "bunfig.toml"), `preload = ["${this.preload}"]\nsmol = true\n`)
    const scripts = { version: "echo trapped", serve: "echo trapped" }
    writeFileSync(join(this.path, "package.json"), JSON.stringify({ type: "commonjs", scripts }))
    writeFileSync(
      join(this.path, "tsconfig.json"),
      JSON.stringify({ compilerOptions: { baseUrl: ".", paths: { "*": [this.preload] } } }),
    )
    for (const name of ["zod", "hono", "pino", "version", "serve"]) {
      mkdirSync(join(this.path, "node_modules", name), { recursive: true })
      writeFileSync(join(this.path, "node_modules", name, "index.js"), mark)
    }
  }

  /** What was written here by anybody but us. */
  get marks(): string[] {
    return readdirSync(this.path).filter((name) => name.startsWith("mark-"))
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]()
  }
}

describe("in a folder full of traps", () => {
  const undisturbed = { exitCode: 0, stdout: "", stderr: "" }
  const stack = new AsyncDisposableStack()
  const line = stack.use(new CommandLine())
  beforeAll(async () => {
    undisturbed.stdout = await line.stdout("ps", "--json")
  })
  afterAll(() => stack.disposeAsync())

  // Each of them runs other code, ends the program or changes what it says, in a program that was
  // compiled by Bun and left as it was.
  test.each([
    ["--preload", { BUN_OPTIONS: "--preload=preload.cjs" }],
    ["a shorter --preload", { BUN_OPTIONS: "-r ./preload.cjs" }],
    ["--smol", { BUN_OPTIONS: "--smol" }],
    ["--config", { BUN_OPTIONS: "--config=bunfig.toml" }],
    ["a --config that is not there", { BUN_OPTIONS: "--config=none.toml" }],
    ["--env-file", { BUN_OPTIONS: "--env-file=.env" }],
    ["--cwd", { BUN_OPTIONS: "--cwd=/" }],
    ["--version", { BUN_OPTIONS: "--version" }],
    ["--help", { BUN_OPTIONS: "--help" }],
    ["--eval", { BUN_OPTIONS: "--eval require('./preload.cjs')" }],
    ["--print", { BUN_OPTIONS: "--print=1" }],
    ["--inspect-brk", { BUN_OPTIONS: "--inspect-brk=127.0.0.1:0" }],
    ["be Bun", { BUN_BE_BUN: "1" }],
    ["be Bun, with --preload", { BUN_BE_BUN: "1", BUN_OPTIONS: "--preload=./preload.cjs" }],
    ["wait for a debugger", { BUN_INSPECT: "ws://127.0.0.1:0/x?wait=1" }],
    ["a debugger's preload", { BUN_INSPECT_PRELOAD: "./preload.cjs" }],
    ["no JIT", { BUN_JSC_useJIT: "0" }],
    ["files at the end", { BUN_BYTECODE_ORDER_OUT: "mark-order" }],
    ["headers on standard error", { BUN_CONFIG_VERBOSE_FETCH: "curl" }],
    ["Node's options", { NODE_OPTIONS: "--require=./preload.cjs --import=./preload.cjs" }],
    ["Node's path", { NODE_PATH: "node_modules" }],
    ["Node's channel", { NODE_CHANNEL_FD: "1" }],
    ["authorities that are not there", { NODE_EXTRA_CA_CERTS: "none.pem" }],
  ])("a command is not moved by %s", async (_, env) => {
    using folder = new HostileFolder()

    const version = await line.run(["version", "--json"], { cwd: folder.path, env })
    const { exitCode, stdout } = await line.run(["ps", "--json"], { cwd: folder.path, env })

    expect(JSON.parse(version.stdout)).toMatchObject({ platform: `linux-${process.arch}` })
    expect(version).toMatchObject({ exitCode: 0, stderr: "" })
    expect({ exitCode, stdout: stdout.trim(), stderr: "" }).toEqual(undisturbed)
    expect(folder.marks).toEqual([])
  })

  test(
    "a service, its gateway and its children are not moved by all of it together",
    async () => {
      using folder = new HostileFolder()
      const env = {
        BUN_OPTIONS: `--preload=${folder.preload} --inspect=127.0.0.1:0`,
        BUN_BE_BUN: "1",
        BUN_INSPECT: "ws://127.0.0.1:0/debug",
        BUN_INSPECT_PRELOAD: folder.preload,
        BUN_JSC_useJIT: "0",
        BUN_TRAP: "sprung",
        NODE_OPTIONS: `--require=${folder.preload}`,
      }
      await using service = await Service.start({ cwd: folder.path, env })
      const url = await service.url()
      using _first = await RawSession.open(url)
      using session = await RawSession.open(url) // .env allows one

      const child = await session.run({ argv: ["printenv"] })

      expect(child.stdout).not.toMatch(/^(?:BUN_|TRAP=)/m)
      expect(service.lockedBy).toBe(service.pid) // it became another program, and no other process
      for (const pid of [service.pid, service.gatewayPid]) {
        expect(environmentOf(pid)).not.toMatch(/\0(?:BUN_|TRAP=)/)
      }
      expect(listeningPorts(service.pid)).toEqual([])
      const ports = new Set(listeningPorts(service.gatewayPid))
      expect([...ports]).toEqual([Number(new URL(url).port)])
      expect(folder.marks).toEqual([])
    },
    timeoutMs,
  )

  test(
    "a service that a command starts is not moved, nor is what it runs",
    async () => {
      using folder = new HostileFolder()
      await using own = new CommandLine()
      const env = {
        BUN_OPTIONS: `--preload=${folder.preload}`,
        BUN_BE_BUN: "1",
        BUN_JSC_useJIT: "0",
      }

      const ran = await own.run(["run", "--", "printenv"], { cwd: folder.path, env })

      expect(ran).toMatchObject({ exitCode: 0, stderr: "" })
      expect(ran.stdout).not.toMatch(/^(?:BUN_|TRAP=)/m)
      for (const pid of [own.keeperPid, own.gatewayPid]) {
        expect(environmentOf(pid)).not.toMatch(/\0(?:BUN_|TRAP=)/)
      }
      expect(folder.marks).toEqual([])
    },
    timeoutMs,
  )
})

describe("what the runtime's engine does before anything else", () => {
  test("happens once, and the program goes on without it", async () => {
    await using line = new CommandLine()

    const ran = await line.run(["version"], { env: { BUN_JSC_dumpOptions: "1" } })

    expect(ran.exitCode).toBe(0)
    expect(ran.stdout).toStartWith("cc-executor ")
    expect(ran.stderr.match(/dumpOptions=1/g)).toHaveLength(1)
  })
})

function environmentOf(pid: number): string {
  return `\0${readFileSync(`/proc/${pid}/environ`, "utf8")}`
}
