import { z } from "zod"
import { HttpSession } from "./http-session.ts"
import { McpTalk } from "./mcp-talk.ts"
import { sendModern } from "./modern-mcp.ts"
import { RawSession } from "./raw-session.ts"
import type { McpRequest } from "./scoped-mcp-operations.ts"
import type { HttpRequest, NativeRequest } from "./scoped-operations.ts"
import { executable, type Service } from "./service.ts"
import { bearing } from "./tokens.ts"
import { until } from "./until.ts"

/** For a service that is asked for everything, at every door. */
export const busyFlags = {
  "messages-per-second": "10000",
  "starts-per-minute": "100000",
  "max-sessions-per-principal": "100",
  "max-executions": "1000", // those of every door go on until the end
  "max-executions-per-principal": "1000",
}

/** What came of a request: why it was refused, null if it was not; and all that was told. */
export type Outcome = { refused: string | null; told: string }

/** One way in, for one bearer of a token. */
export interface Door<Request> extends AsyncDisposable {
  ask(request: Request): Promise<Outcome>
}

export async function nativeDoor(url: string, token?: string): Promise<Door<NativeRequest>> {
  const session = await RawSession.open(url, token === undefined ? {} : bearing(token))
  return {
    async ask({ method, params }) {
      const answer = await session.response(session.request(method, params))
      const told = JSON.stringify(answer)
      return { refused: "error" in answer ? answer.error.data.reason : null, told }
    },
    [Symbol.asyncDispose]: async () => session[Symbol.dispose](),
  }
}

const Refused = z.object({ error: z.object({ data: z.object({ reason: z.string() }) }) })

/** Over TCP, or over a unix socket. */
export function httpDoor(service: Service, token: string, unix?: string): Door<HttpRequest> {
  return {
    async ask({ method, path, body }) {
      const over = new AbortController()
      const headers = { ...bearing(token).headers, "Content-Type": "application/json" }
      const url = unix === undefined ? await service.url(path) : `http://localhost${path}`
      const response = await fetch(url, {
        ...(unix === undefined ? {} : { unix }),
        method,
        headers,
        signal: over.signal,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      if (response.ok && path === "/events") {
        over.abort() // it never ends by itself
        return { refused: null, told: "" }
      }
      const told = await response.text()
      if (response.ok) return { refused: null, told }
      return { refused: Refused.parse(JSON.parse(told)).error.data.reason, told }
    },
    [Symbol.asyncDispose]: async () => undefined,
  }
}

export function modernHttpDoor(service: Service, token: string): Door<McpRequest> {
  return {
    async ask({ method, params, asTask = false }) {
      // Only tasks are asked for as tasks: `run` would be answered with one.
      const options = { ...bearing(token), tasks: asTask || method.startsWith("tasks/") }
      const response = await sendModern(service, method, params, options)
      return outcomeOf(await response.json())
    },
    [Symbol.asyncDispose]: async () => undefined,
  }
}

export async function mcpSocketDoor(
  service: Service,
  token: string,
  era: "legacy" | "modern",
): Promise<Door<McpRequest>> {
  const talk = await McpTalk.open(service, { token, era })
  let lastId = 0
  return {
    async ask({ method, params, asTask = false }) {
      lastId += 1
      const _meta = asTask || method.startsWith("tasks/") ? declaringTasks : {}
      return outcomeOf(await talk.ask({ id: lastId, method, params: { ...params, _meta } }))
    },
    [Symbol.asyncDispose]: () => talk[Symbol.asyncDispose](),
  }
}

/** Of earlier revisions, with a session. */
export async function legacyHttpDoor(service: Service, token: string): Promise<Door<McpRequest>> {
  const session = new HttpSession(await service.url("/mcp"), bearing(token).headers)
  await session.open()
  return {
    ask: async ({ method, params }) => outcomeOf(await session.ask(method, params)),
    [Symbol.asyncDispose]: async () => undefined,
  }
}

/** `cc-executor mcp`, which brings the token to a remote service. */
export async function stdioDoor(service: Service, token: string): Promise<Door<McpRequest>> {
  const program = Bun.spawn([executable, "mcp"], {
    env: { ...process.env, CC_EXECUTOR_URL: await service.url(), CC_EXECUTOR_TOKEN: token },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  })
  const answers = new Map<unknown, unknown>()
  void collectLines(program.stdout, (line) => {
    const message: unknown = JSON.parse(line)
    answers.set(Identified.parse(message).id, message)
  })
  let lastId = 0
  const ask = async (method: string, params: object) => {
    lastId += 1
    const id = lastId
    await program.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`)
    await program.stdin.flush()
    return until(`an answer to ${method}`, () => answers.get(id))
  }
  const clientInfo = { name: "test", version: "1" }
  await ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo })
  return {
    ask: async ({ method, params }) => outcomeOf(await ask(method, params)),
    async [Symbol.asyncDispose]() {
      program.kill()
      await program.exited
    },
  }
}

const Identified = z.looseObject({ id: z.unknown() })

async function collectLines(
  stream: ReadableStream<Uint8Array>,
  hear: (line: string) => void,
): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ""
  for await (const piece of stream) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) hear(line)
  }
}

const declaringTasks = {
  "io.modelcontextprotocol/clientCapabilities": {
    extensions: { "io.modelcontextprotocol/tasks": {} },
  },
}

const McpAnswer = z.looseObject({
  error: z.looseObject({ message: z.string() }).optional(),
  result: z
    .looseObject({
      isError: z.boolean().optional(),
      content: z.array(z.looseObject({ text: z.string().optional() })).optional(),
    })
    .optional(),
})

/** A refused tool answers in words that begin with the reason; other methods with an error. */
function outcomeOf(answer: unknown): Outcome {
  const { error, result } = McpAnswer.parse(answer)
  const words = result?.isError === true ? (result.content?.[0]?.text ?? "") : error?.message
  const refused = words === undefined ? null : (words.split(":")[0] ?? words)
  return { refused, told: JSON.stringify(answer) }
}
