import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { testTools, toolFolder } from "../../scripts/test-tools.ts"
import { executionMarker } from "../../src/execution/id.ts"
import { allPids, isAlive, readEnvironment, readStat } from "../../src/service/os/proc.ts"
import { SIGKILL, signalProcess } from "../../src/service/os/signals.ts"
import { ClaudeRun } from "./claude-run.ts"
import { filesWith } from "./files-with.ts"
import type { MessagesApi } from "./messages-api.ts"
import { temporaryFolder } from "./temporary-folder.ts"
import { until } from "./until.ts"

const platform = `${process.platform}-${process.arch}`
/** Where the program `claude` is. */
export const claudeCodeFolder = join(
  toolFolder("claude-code") ?? "",
  `node_modules/@anthropic-ai/claude-code-${platform}`,
)
const program = join(claudeCodeFolder, "claude")

/** Why Claude Code cannot be driven here, or null. */
export const noClaudeCode = existsSync(program)
  ? null
  : `needs ${testTools["claude-code"]} for ${platform}`

/** How Claude Code is told to reach an MCP server. */
export type ServerEntry =
  | { type: "ws" | "http"; url: string; headers?: Record<string, string> }
  | { command: string; args: string[] }

/**
 * The real Claude Code of somebody who has nothing but it: a home of its own, in which sessions
 * are remembered, and one MCP server, `executor`, whose tools may be used without asking.
 */
export class ClaudeCode implements AsyncDisposable {
  readonly #folder = temporaryFolder()
  readonly #api: MessagesApi
  readonly #runs: ClaudeRun[] = []

  constructor(api: MessagesApi, server: ServerEntry) {
    this.#api = api
    for (const name of ["home", "tmp", "project"]) mkdirSync(this.#path(name))
    writeFileSync(this.#path("mcp.json"), JSON.stringify({ mcpServers: { executor: server } }))
  }

  /** Hands it a task; or another one, in a session that it remembers. */
  run(prompt: string, session: string | null = null): ClaudeRun {
    const command = [program, "--print", "--output-format", "stream-json", "--verbose"]
    command.push("--mcp-config", this.#path("mcp.json"), "--strict-mcp-config")
    command.push("--allowedTools", "mcp__executor", "--debug-file", this.#path("debug.log"))
    if (session !== null) command.push("--resume", session)
    const child = Bun.spawn([...command, "--", prompt], {
      cwd: this.#path("project"),
      env: this.#environment(),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      detached: true,
    })
    const run = new ClaudeRun(child, this.#api)
    this.#runs.push(run)
    return run
  }

  /** Waits until it has called a tool of the server, and has possibly not been answered yet. */
  async isCalling(tool: string): Promise<void> {
    const line = `MCP server "executor": Calling MCP tool: ${tool}\n`
    await until(`Claude Code calls ${tool}`, () => this.#debugLog().includes(line))
  }

  /** Waits until a tool's answer is written down: what is not, is lost in a crash. */
  async remembers(answer: string): Promise<void> {
    const written = JSON.stringify(answer).slice(1, -1)
    const home = this.#path("home/.claude/projects")
    await until(`Claude Code remembers ${answer}`, () => filesWith(home, written).length > 0)
  }

  /** The processes it started itself, its MCP server say; not those that the service runs. */
  get processes(): number[] {
    const home = `HOME=${this.#path("home")}`
    return allPids().filter((pid) => {
      const environment = readEnvironment(pid).split("\0")
      const isExecution = environment.some((entry) => entry.startsWith(`${executionMarker}=`))
      return environment.includes(home) && !isExecution && isAlive(readStat(pid))
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const run of this.#runs) await run[Symbol.asyncDispose]()
    // Its shells lead sessions of their own: only their environment tells whose they are.
    await until("nothing of Claude Code is left", () => this.#endProcesses() === 0)
    this.#folder[Symbol.dispose]()
  }

  #debugLog(): string {
    const path = this.#path("debug.log")
    return existsSync(path) ? readFileSync(path, "utf8") : ""
  }

  /** Answers how many there were to end. */
  #endProcesses(): number {
    const { processes } = this
    for (const stat of processes.map(readStat)) {
      if (stat !== null) signalProcess(stat, SIGKILL)
    }
    return processes.length
  }

  #environment(): Record<string, string> {
    return {
      PATH: process.env["PATH"] ?? "",
      SHELL: "/bin/bash",
      HOME: this.#path("home"),
      TMPDIR: this.#path("tmp"),
      CLAUDE_CODE_TMPDIR: this.#path("tmp"),
      ANTHROPIC_BASE_URL: this.#api.url,
      ANTHROPIC_API_KEY: "none",
      DISABLE_TELEMETRY: "1",
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      // Else it shows its model only names, and a script would have to ask for each tool first.
      ENABLE_TOOL_SEARCH: "false",
    }
  }

  #path(name: string): string {
    return join(this.#folder.path, name)
  }
}
