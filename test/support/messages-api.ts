import { type Conversation, MessagesRequest, readConversation } from "./conversation.ts"

/** What the model does next: it says something and is done, or it uses a tool. */
export type ModelStep = { say: string } | { use: string; input: Record<string, unknown> }

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
  readonly #model: Model
  readonly #failed = Promise.withResolvers<never>()
  readonly #server: Bun.Server<undefined>

  constructor(model: Model) {
    this.#model = model
    this.#failed.promise.catch(() => undefined)
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      // A step may wait for a fact, and Bun would hang up on it after ten seconds.
      idleTimeout: 0,
      fetch: (request) => this.#answer(request),
    })
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`
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
      const block = await this.#nextBlock(asked)
      return asked.stream ? streamed(asked.model, block) : whole(asked.model, block)
    } catch (error) {
      this.#failed.reject(error)
      return refusal(String(error))
    }
  }

  async #nextBlock(asked: MessagesRequest): Promise<Block> {
    if (asked.tools.length === 0) return { type: "text", text: "Fine." }
    const conversation = readConversation(asked)
    this.conversations.push(conversation)
    const step = await this.#model(conversation)
    if ("say" in step) return { type: "text", text: step.say }
    const id = `toolu_${crypto.randomUUID().replaceAll("-", "")}`
    return { type: "tool_use", id, name: toolNamed(step.use, conversation), input: step.input }
  }
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

function stopReasonOf({ type }: Block): string {
  return type === "tool_use" ? "tool_use" : "end_turn"
}

function whole(model: string, block: Block): Response {
  return Response.json(messageOf(model, [block], stopReasonOf(block)))
}

function streamed(model: string, block: Block): Response {
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
  const stop = { stop_reason: stopReasonOf(block), stop_sequence: null }
  const events = [
    { type: "message_start", message: messageOf(model, [], null) },
    { type: "content_block_start", index: 0, content_block: empty },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: stop, usage: { output_tokens: 1 } },
    { type: "message_stop" },
  ]
  const lines = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  return new Response(lines.join(""), { headers: { "Content-Type": "text/event-stream" } })
}

function refusal(message: string): Response {
  const error = { type: "invalid_request_error", message }
  return Response.json({ type: "error", error }, { status: 400 })
}
