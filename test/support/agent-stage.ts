import { existsSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { type Client, connect } from "../../src/client/connect.ts"
import type { ParamsOf, ResultOf } from "../../src/protocol/methods.ts"
import { claudeCodeFolder } from "./claude-code.ts"
import { filesWith } from "./files-with.ts"
import { MessagesApi, type Model } from "./messages-api.ts"
import { executable, isRunning, Service, type ServiceOptions } from "./service.ts"
import { temporaryFolder } from "./temporary-folder.ts"
import { until } from "./until.ts"

const SessionEvent = z.looseObject({ n: z.int(), event: z.string() })
export type SessionEvent = z.infer<typeof SessionEvent>

type Status = ResultOf<"agent.status">

export type StageOptions = ServiceOptions & {
  /** Variables of the service, and so of the agent. */
  variables?: Record<string, string>
}

/** A service with the real Claude Code on its path, and a script in the place of the model. */
export class AgentStage implements AsyncDisposable {
  readonly api: MessagesApi
  readonly #options: StageOptions
  #service: Service
  #client: Client
  /** What the service and its agents are started with. */
  readonly environment: Record<string, string>
  readonly #folder: ReturnType<typeof temporaryFolder>
  /** The first of them owns the state directory. */
  readonly #crashed: Service[] = []

  private constructor(
    api: MessagesApi,
    service: Service,
    client: Client,
    folder: ReturnType<typeof temporaryFolder>,
    environment: Record<string, string>,
    options: StageOptions,
  ) {
    this.environment = environment
    this.api = api
    this.#service = service
    this.#client = client
    this.#options = options
    this.#folder = folder
  }

  static async set(model: Model, options: StageOptions = {}): Promise<AgentStage> {
    const api = new MessagesApi(model)
    const folder = temporaryFolder()
    for (const name of ["home", "tmp", "project"]) mkdirSync(join(folder.path, name))
    const environment = { ...agentEnvironment(folder.path, api.url), ...options.variables }
    const service = await Service.start({ ...options, env: environment })
    const client = connect({ url: await service.url() })
    return new AgentStage(api, service, client, folder, environment, options)
  }

  get service(): Service {
    return this.#service
  }

  get client(): Client {
    return this.#client
  }

  /** Kills the keeper, and starts a service on what it has left. */
  async crash(): Promise<void> {
    const { stateDir, pid, gatewayPid } = this.#service
    process.kill(pid, "SIGKILL")
    await until("the gateway is gone", () => !isRunning(gatewayPid))
    await this.#client.close()
    this.#crashed.push(this.#service)
    this.#service = await Service.start({ ...this.#options, env: this.environment, stateDir })
    this.#client = connect({ url: await this.#service.url() })
  }

  /**
   * Waits until a tool runs and Claude Code has written its use down, which it does a moment later:
   * what is not written down is not known to who goes on after a kill.
   */
  async whenToolRuns(madeFile: string, command: string): Promise<void> {
    const projects = join(this.home, ".claude/projects")
    await until("the tool runs", () => existsSync(join(this.project, madeFile)))
    await until("its use is written down", () => filesWith(projects, command).length > 0)
  }

  /** Runs the command line against this service, and answers what it prints. */
  async cli(...args: string[]): Promise<string> {
    const { stateDir } = this.#service
    const child = Bun.spawn([executable, ...args, "--state-dir", stateDir], {
      cwd: this.#folder.path,
      env: { ...process.env, ...this.environment },
      stdin: "ignore",
    })
    return (await new Response(child.stdout).text()).trim()
  }

  /** Waits until a session goes on in another execution, and answers its id. */
  async whenRestarted(id: string): Promise<string> {
    const { restarted_as = "" } = await this.whenStatus(id, "it goes on", (status) => {
      return status.restarted_as !== undefined
    })
    return restarted_as
  }

  get project(): string {
    return join(this.#folder.path, "project")
  }

  get home(): string {
    return join(this.#folder.path, "home")
  }

  /** Starts a session, and answers its execution's id. */
  async start(params: Partial<ParamsOf<"agent.start">> = {}): Promise<string> {
    const { execution_id } = await this.client.call("agent.start", { cwd: this.project, ...params })
    return execution_id
  }

  async status(execution_id: string): Promise<Status | null> {
    return this.client.call("agent.status", { execution_id }).catch(() => null)
  }

  /** Waits until a session's status is as wanted, and answers it. */
  async whenStatus(id: string, what: string, isSo: (status: Status) => boolean): Promise<Status> {
    return until(
      what,
      async () => {
        const status = await this.status(id)
        return status !== null && isSo(status) ? status : false
      },
      50_000,
    )
  }

  async whenTurnEnded(id: string, count = 1): Promise<Status> {
    return this.whenStatus(id, `${count} turns ended`, ({ turns }) => turns.ended >= count)
  }

  /** Everything on record so far. */
  async events(execution_id: string): Promise<SessionEvent[]> {
    let text = ""
    let from = "start"
    while (true) {
      const page = await this.client.call("transcript.read", { execution_id, from })
      text += page.chunks.flatMap(({ type, data }) => (type === "stdout" ? [data] : [])).join("")
      if (page.more !== true) break
      from = page.next
    }
    const lines = text.split("\n").slice(0, -1)
    return lines.map((line) => SessionEvent.parse(JSON.parse(line)))
  }

  async whenEnded(execution_id: string): Promise<ResultOf<"status">> {
    return until(
      "the session has ended",
      async () => {
        const view = await this.client.call("status", { execution_id })
        return view.state === "ended" ? view : false
      },
      50_000,
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close()
    await this.#service[Symbol.asyncDispose]()
    for (const service of this.#crashed) await service[Symbol.asyncDispose]()
    await this.api[Symbol.asyncDispose]()
    this.#folder[Symbol.dispose]()
  }
}

/** Of somebody who has nothing but Claude Code. */
export function agentEnvironment(folder: string, apiUrl: string): Record<string, string> {
  return {
    PATH: `${claudeCodeFolder}:${process.env["PATH"] ?? ""}`,
    SHELL: "/bin/bash",
    HOME: join(folder, "home"),
    TMPDIR: join(folder, "tmp"),
    CLAUDE_CODE_TMPDIR: join(folder, "tmp"),
    ANTHROPIC_BASE_URL: apiUrl,
    ANTHROPIC_API_KEY: "none",
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    ENABLE_TOOL_SEARCH: "false",
  }
}
