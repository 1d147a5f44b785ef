import { z } from "zod"
import type { MessagesApi } from "./messages-api.ts"
import { collectLines } from "./service.ts"
import { until } from "./until.ts"

/** A line of what it says, as far as tests look at it. */
const Said = z.looseObject({ type: z.string(), subtype: z.string().optional() })
type Said = z.infer<typeof Said>

const Init = z.object({
  session_id: z.string(),
  mcp_servers: z.array(z.object({ name: z.string(), status: z.string() })),
})
const Result = z.object({ is_error: z.boolean(), result: z.string() })

const patienceMs = 50_000

/** One run of Claude Code, from a prompt to its last word. */
export class ClaudeRun implements AsyncDisposable {
  readonly #child: Bun.Subprocess<"ignore", "pipe", "pipe">
  readonly #api: MessagesApi
  readonly #said: Said[] = []
  readonly #complaints: Promise<string>
  readonly #heard: Promise<void>

  constructor(child: Bun.Subprocess<"ignore", "pipe", "pipe">, api: MessagesApi) {
    this.#child = child
    this.#api = api
    this.#complaints = child.stderr.text()
    this.#heard = collectLines(child.stdout, (line) => {
      this.#said.push(Said.parse(JSON.parse(line)))
    })
    this.#heard.catch(() => undefined)
  }

  /** The session it works in, and which of its MCP servers it has reached. */
  async init(): Promise<z.infer<typeof Init>> {
    return Init.parse(await until("Claude Code begins", () => this.#find("system", "init")))
  }

  /** Its last word; fails where it has none, and where the model's script failed. */
  async answer(): Promise<string> {
    await Promise.race([this.#api.failed, this.#end()])
    const said = this.#find("result")
    if (said === undefined) throw new Error(`no result; it said: ${await this.#complaints}`)
    const { is_error, result } = Result.parse(said)
    if (is_error) throw new Error(`an error for a result: ${result}`)
    return result
  }

  /** As a crash would: no farewell to its MCP server, and none to its shells. */
  async crash(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill("SIGKILL")
    }
    await this.#child.exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.crash()
  }

  #find(type: string, subtype?: string): Said | undefined {
    return this.#said.find(
      (said) => said.type === type && (subtype === undefined || said.subtype === subtype),
    )
  }

  /** Its end, or a failure in time for what the test started to be disposed. */
  async #end(): Promise<void> {
    const { promise, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(
      () => reject(new Error(`no end within ${patienceMs} ms of ${this.#said.length} lines`)),
      patienceMs,
    )
    try {
      await Promise.race([this.#heard, promise])
    } finally {
      clearTimeout(timer)
    }
  }
}
