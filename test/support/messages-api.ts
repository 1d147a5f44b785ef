import { z } from "zod"
import { type Conversation, MessagesRequest, readConversation } from "./conversation.ts"

type Use = { use: string; input: Record<string, unknown> }

/** What the model does next: it says something and is done, or it uses a tool, or several. */
export type ModelStep =
  | { say: string }
  | Use
  | { uses: Use[] }
  /** The API refuses. */
  | { status: number; headers?: Record<string, string> }
  /** Begins to say something, and is silent then. */
  | { begin: string }
  /** Says these words as they come, and is done. */
  | { words: AsyncIterable<string> }

/**
 * A script in a model's place. It keeps nothing of its own in mind: what it does next follows from
 * the conversation, which a client may send again.
 */
export type Model = (conversation: Conversation) => ModelStep | Promise<ModelStep>

type Block =
  | { type: "text"; text: string }
  | { type: "tool_use"; id: string; name: string; input: Record<string, unknown> }

/**
 * As much of Anthropic's API as Claude Code needs, on this machine alone. What is asked without
 * tools, to name a session say, is no part of the script and answered with some text.
 */
export class MessagesApi implements AsyncDisposable {
  /** All that was sent with tools, each as far as it had come. */
  readonly conversations: Conversation[] = []
  /** Of every answer, those that tell of usage limits say. */
  headers: Record<string, string> = {}
  readonly #model: Model
  readonly #failed = Promise.withResolvers<never>()
  readonly #server: Bun.Server<undefined>

  constructor(model: Model, hostname = "127.0.0.1") {
    this.#model = model
    this.#failed.promise.catch(() => undefined)
    this.#server = Bun.serve({
      hostname,
      port: 0,
      // A step may wait for a fact, and Bun would hang up on it after ten seconds.
      idleTimeout: 0,
      fetch: (request) => this.#answer(request),
    })
  }

  get url(): string {
    return `http://${this.#server.hostname}:${this.#server.port}`
  }

  /** Rejects with what the script threw: a client would only see an API that fails. */
  get failed(): Promise<never> {
    return this.#failed.promise
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true)
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (request.method !== "POST") return new Response(null)
    if (pathname === "/v1/messages/count_tokens") return Response.json({ input_tokens: 1 })
    if (pathname !== "/v1/messages") return Response.json({})
    try {
      const asked = MessagesRequest.parse(await request.json())
      const step = await this.#nextStep(asked)
      if ("status" in step) return failed(step)
      if ("begin" in step) return cutOff(asked.model, step.begin)
      if ("words" in step) return wordByWord(asked.model, step.words)
      const { blocks, headers } = step
      return asked.stream ? streamed(asked.model, blocks, headers) : whole(asked.model, blocks)
    } catch (error) {
      this.#failed.reject(error)
      return refusal(String(error))
    }
  }

  async #nextStep(asked: MessagesRequest): Promise<Step> {
    if (asked.tools.length === 0) return { blocks: [{ type: "text", text: "Fine." }], headers: {} }
    const conversation = readConversation(asked)
    this.conversations.push(conversation)
    const step = await this.#model(conversation)
    if (!("say" in step || "use" in step || "uses" in step)) return step
    return { blocks: blocksOf(step, conversation), headers: this.headers }
  }
}

type Whole = { say: string } | Use | { uses: Use[] }
type Step = { blocks: Block[]; headers: Record<string, string> } | Exclude<ModelStep, Whole>

function blocksOf(step: Whole, conversation: Conversation): Block[] {
  if ("say" in step) return [{ type: "text", text: step.say }]
  const uses = "uses" in step ? step.uses : [step]
  return uses.map(({ use, input }) => {
    const id = `toolu_${crypto.randomUUID().replaceAll("-", "")}`
    return { type: "tool_use", id, name: toolNamed(use, conversation), input }
  })
}

/** The one tool on offer whose name ends so: `start` is Claude Code's `mcp__executor__start`. */
function toolNamed(end: string, { tools }: Conversation): string {
  const [name, ...others] = tools.filter((tool) => tool === end || tool.endsWith(`__${end}`))
  if (name !== undefined && others.length === 0) return name
  throw new Error(`not one tool is "${end}", of these: ${tools.join(", ")}`)
}

function messageOf(model: string, content: Block[], stopReason: string | null) {
  return {
    id: `msg_${crypto.randomUUID()}`,
    type: "message",
    role: "assistant",
    model,
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }
}

function stopReasonOf(blocks: readonly Block[]): string {
  return blocks.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn"
}

function whole(model: string, blocks: Block[]): Response {
  return Response.json(messageOf(model, blocks, stopReasonOf(blocks)))
}

const EventName = z.object({ type: z.string() })
const streaming = { "Content-Type": "text/event-stream" }

function streamed(model: string, blocks: Block[], headers: Record<string, string>): Response {
  const stop = { stop_reason: stopReasonOf(blocks), stop_sequence: null }
  const events = [
    { type: "message_start", message: messageOf(model, [], null) },
    ...blocks.flatMap((block, index) => blockEvents(block, index)),
    { type: "message_delta", delta: stop, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  ]
  return new Response(events.map(lineOf).join(""), { headers: { ...streaming, ...headers } })
}

function blockEvents(block: Block, index: number): object[] {
  const [empty, delta] =
    block.type === "text"
      ? [
          { ...block, text: "" },
          { type: "text_delta", text: block.text },
        ]
      : [
          { ...block, input: {} },
          { type: "input_json_delta", partial_json: JSON.stringify(block.input) },
        ]
  return [
    { type: "content_block_start", index, content_block: empty },
    { type: "content_block_delta", index, delta },
    { type: "content_block_stop", index },
  ]
}

function lineOf(event: object): string {
  const { type } = EventName.parse(event)
  return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`
}

function wordByWord(model: string, words: AsyncIterable<string>): Response {
  async function* events(): AsyncGenerator<object> {
    const [start, , stop] = blockEvents({ type: "text", text: "" }, 0)
    yield { type: "message_start", message: messageOf(model, [], null) }
    if (start !== undefined) yield start
    for await (const text of words) {
      yield { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }
    }
    if (stop !== undefined) yield stop
    const delta = { stop_reason: "end_turn", stop_sequence: null }
    yield { type: "message_delta", delta, usage: { output_tokens: 1 } }
    yield { type: "message_stop" }
  }
  const encoder = new TextEncoder()
  const body = new ReadableStream({
    async start(controller) {
      for await (const event of events()) controller.enqueue(encoder.encode(lineOf(event)))
      controller.close()
    },
  })
  return new Response(body, { headers: streaming })
}

/** The beginning of an answer, and never an end. */
function cutOff(model: string, text: string): Response {
  const events = [
    { type: "message_start", message: messageOf(model, [], null) },
    ...blockEvents({ type: "text", text }, 0).slice(0, 2),
  ]
  const body = new ReadableStream({
    start: (controller) =>
      controller.enqueue(new TextEncoder().encode(events.map(lineOf).join(""))),
  })
  return new Response(body, { headers: streaming })
}

function failed({ status, headers = {} }: Extract<ModelStep, { status: number }>): Response {
  const type = status === 429 ? "rate_limit_error" : "overloaded_error"
  return Response.json({ type: "error", error: { type, message: "no" } }, { status, headers })
}

function refusal(message: string): Response {
  const error = { type: "invalid_request_error", message }
  return Response.json({ type: "error", error }, { status: 400 })
}
