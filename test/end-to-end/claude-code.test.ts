import { describe, expect } from "bun:test"
import { Receipt } from "../../src/execution/receipt.ts"
import { commandLine } from "../../src/service/os/proc.ts"
import { ClaudeCode, noClaudeCode, type ServerEntry } from "../support/claude-code.ts"
import { HaltingJob, seeThrough } from "../support/halting-job.ts"
import { MessagesApi } from "../support/messages-api.ts"
import { RawSession } from "../support/raw-session.ts"
import { fewIfShort, onlyInFull } from "../support/scale.ts"
import { executable, isRunning, Service } from "../support/service.ts"
import { testUnless } from "../support/test-unless.ts"
import { bearing, makeToken } from "../support/tokens.ts"
import { until } from "../support/until.ts"

const timeoutMs = 90_000
const task = "Run the job, and tell me what it wrote."
const transports = ["ws", "http", "stdio"] as const
type Transport = (typeof transports)[number]

// The other two are tried below in every run.
describe.each(fewIfShort(1, transports))("Claude Code over %s", (transport) => {
  testUnless(
    noClaudeCode ?? onlyInFull,
    "is told all of a job's output, though the gateway dies between two calls",
    async () => {
      const { promise: mayWait, resolve: letWait } = Promise.withResolvers<void>()
      await using stage = await Stage.set(transport, mayWait)
      const run = stage.claude.run(task)

      await stage.job.isAtHalf()
      await stage.startIsAnswered()
      await stage.killGateway()
      letWait()
      stage.job.goOn()

      expect(await run.answer()).toBe(stage.job.output)
      // A lost WebSocket is opened again a moment later: calls until then fail.
      if (transport !== "ws") expect(stage.failedCalls).toEqual([])
      await stage.expectRecordedOnce()
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode,
    "is told all of a job's output, though the gateway dies during a call",
    async () => {
      await using stage = await Stage.set(transport)
      const run = stage.claude.run(task)

      await stage.job.isAtHalf()
      await stage.claude.isCalling("wait")
      await stage.killGateway()
      stage.job.goOn()

      expect(await run.answer()).toBe(stage.job.output)
      if (transport === "stdio") expect(stage.failedCalls).toEqual([])
      if (transport === "ws") expect(stage.failedCalls[0]).toEndWith("__wait")
      // Over HTTP it depends on whether a part of the answer was there, to be gone on with.
      for (const name of stage.failedCalls) expect(name).toEndWith("__wait")
      await stage.expectRecordedOnce()
    },
    timeoutMs,
  )

  testUnless(
    noClaudeCode ?? onlyInFull,
    "that crashes during a call is told all of a job's output in its next run",
    async () => {
      await using stage = await Stage.set(transport)
      const first = stage.claude.run(task)

      await stage.job.isAtHalf()
      await stage.claude.isCalling("wait")
      await stage.claude.remembers(await stage.startIsAnswered())
      await first.crash()
      stage.job.goOn()
      const { session_id } = await first.init()
      const second = stage.claude.run("Go on.", session_id)

      expect(await second.answer()).toBe(stage.job.output)
      await stage.expectRecordedOnce()
    },
    timeoutMs,
  )
})

describe("Claude Code over http", () => {
  testUnless(
    noClaudeCode,
    "goes on with a call of which it has heard, when the gateway dies",
    async () => {
      await using stage = await Stage.set("http")
      const run = stage.claude.run(task)

      await stage.job.isAtHalf()
      await stage.claude.isCalling("wait")
      const calledAtMs = performance.now()
      await until("progress is told", () => performance.now() - calledAtMs > 2000)
      await stage.killGateway()
      stage.job.goOn()

      expect(await run.answer()).toBe(stage.job.output)
      expect(stage.failedCalls).toEqual([])
      await stage.expectRecordedOnce()
    },
    timeoutMs,
  )
})

describe("Claude Code over stdio", () => {
  testUnless(
    noClaudeCode,
    "is told all of a job's output, though its MCP server dies during a call",
    async () => {
      await using stage = await Stage.set("stdio")
      const run = stage.claude.run(task)

      await stage.job.isAtHalf()
      await stage.claude.isCalling("wait")
      stage.killMcpProcess()
      stage.job.goOn()

      expect(await run.answer()).toBe(stage.job.output)
      expect(stage.failedCalls[0]).toEndWith("__wait")
      await stage.expectRecordedOnce()
    },
    timeoutMs,
  )
})

/** A service, a job, and Claude Code with a model that sees the job through. */
class Stage implements AsyncDisposable {
  readonly job = new HaltingJob()
  readonly claude: ClaudeCode
  readonly #service: Service
  readonly #api: MessagesApi

  private constructor(service: Service, server: ServerEntry, mayWait: Promise<void>) {
    this.#service = service
    this.#api = new MessagesApi(async (conversation) => {
      if (conversation.uses.length > 0) await mayWait
      return seeThrough(this.job, conversation)
    })
    this.claude = new ClaudeCode(this.#api, server)
  }

  static async set(transport: Transport, mayWait = Promise.resolve()): Promise<Stage> {
    await using stack = new AsyncDisposableStack()
    const service = stack.use(await Service.start())
    const token = await makeToken(service.stateDir, { name: "claude" })
    const server = await serverEntry(transport, service, token)
    stack.move()
    return new Stage(service, server, mayWait)
  }

  /** The tools whose use failed, in that order. */
  get failedCalls(): string[] {
    const uses = this.#api.conversations.at(-1)?.uses ?? []
    return uses.filter(({ isError }) => isError).map(({ tool }) => tool)
  }

  /** With the answer that Claude Code was given. */
  async startIsAnswered(): Promise<string> {
    return until("start is answered", () => this.#api.conversations.at(-1)?.uses[0]?.answer)
  }

  /** Kills it, and waits until there is another one. */
  async killGateway(): Promise<void> {
    const { gatewayPid } = this.#service
    process.kill(gatewayPid, "SIGKILL")
    await until("the gateway is gone", () => !isRunning(gatewayPid))
    await until("there is a new gateway", async () => {
      const health = await fetch(await this.#service.url("/health")).catch(() => null)
      return health?.ok === true
    })
  }

  /** Kills the process that Claude Code started for its MCP server. */
  killMcpProcess(): void {
    const isMcp = (pid: number) => commandLine(pid).startsWith(`${executable} mcp `)
    const [pid, ...others] = this.claude.processes.filter(isMcp)
    if (pid === undefined || others.length > 0) throw new Error("there is not one MCP process")
    process.kill(pid, "SIGKILL")
  }

  /** The service knows of one execution alone, and recorded of it what Claude Code was told. */
  async expectRecordedOnce(): Promise<void> {
    const token = await makeToken(this.#service.stateDir, { name: "auditor", scope: "admin" })
    using session = await RawSession.open(await this.#service.url(), bearing(token))
    const { executions } = await session.call("list", {})
    expect(executions.map(({ command }) => command)).toEqual([this.job.command])
    const execution_id = executions[0]?.execution_id ?? ""
    const { chunks } = await session.call("transcript.read", { execution_id })
    const { payload } = await session.call("receipt", { execution_id })
    const receipt = Receipt.parse(JSON.parse(Buffer.from(payload, "base64").toString()))

    expect(chunks.map(({ data }) => data).join("")).toBe(this.job.output)
    expect(receipt.hashes?.stdout).toBe(sha256(this.job.output))
    expect(receipt.outcome).toEqual({ kind: "exited", exitCode: 0 })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    using _job = this.job
    await using _service = this.#service
    await using _api = this.#api
    await using _claude = this.claude
  }
}

/** What a user writes down for Claude Code; over stdio the user of this machine needs no token. */
async function serverEntry(
  transport: Transport,
  service: Service,
  token: string,
): Promise<ServerEntry> {
  const { headers } = bearing(token)
  switch (transport) {
    case "ws":
      return { type: "ws", url: await service.url(), headers }
    case "http":
      return { type: "http", url: await service.url("/mcp"), headers }
    case "stdio":
      return {
        command: executable,
        args: ["mcp", "--state-dir", service.stateDir],
      }
  }
}

function sha256(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex")
}
