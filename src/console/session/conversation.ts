import {
  AgentMessage,
  AssistantBlock,
  blocksOf,
  outputText,
  resultText,
  UserBlock,
} from "../../client/messages/agent-message.ts"
import type { SessionNotice } from "../../client/session-log.ts"

export type ToolCall = {
  id: string
  tool: string
  input: unknown
  /** Null until it is there. */
  result: { text: string; isError: boolean } | null
  /** What its subagent does, where it has one. */
  inside: Entry[]
}

/** What is shown of a session, one after the other. */
export type Entry =
  | { kind: "turn"; by: string; text: string; at: string }
  | { kind: "said"; text: string }
  | { kind: "call"; call: ToolCall }
  | { kind: "answer"; by: string; behavior: string; question: string; tool: string | null }
  | { kind: "note"; text: string; tone: "quiet" | "waits" | "bad" }

export type UsagePoint = { at: string; costUsd: number; tokens: number }

/** A session's events, put together to a conversation by turns. */
export class Conversation {
  readonly entries: Entry[] = []
  readonly usage: UsagePoint[] = []
  readonly #calls = new Map<string, ToolCall>()
  readonly #questions = new Map<string, string | null>()

  add(notice: SessionNotice): void {
    if (notice.kind === "gap") {
      this.#note(`${notice.bytes} bytes before this are not kept.`, "waits")
    }
    if (notice.kind === "stderr") this.#note(notice.text.trim(), "quiet")
    if (notice.kind !== "event") return
    const { event } = notice
    switch (event.event) {
      case "turn":
        return void this.entries.push({
          kind: "turn",
          by: event.by,
          text: event.text ?? JSON.stringify(event.content),
          at: event.at,
        })
      case "message":
        return this.#message(event.message)
      case "question":
        this.#questions.set(event.question_id, event.tool)
        return
      case "answer": {
        const { by, behavior, question_id: question } = event
        const tool = this.#questions.get(question) ?? null
        return void this.entries.push({ kind: "answer", by, behavior, question, tool })
      }
      case "usage": {
        const { input, output, cache_read, cache_creation } = event.tokens
        const tokens = input + output + cache_read + cache_creation
        return void this.usage.push({ at: event.at, costUsd: event.cost_usd, tokens })
      }
      case "limit":
        if (event.status === "allowed") return
        return this.#note(`Usage limit: ${event.status}.`, "waits")
      case "turn-ended":
        if (event.outcome === "success") return
        return this.#note(`The turn ended: ${event.outcome}.`, "bad")
      case "problem":
        return this.#note(event.problem, "bad")
      case "resumed":
        return this.#note(`It went on after ${event.after}.`, "waits")
      case "budget":
        return this.#note(`A budget was reached: ${event.budget}, ${event.done}.`, "waits")
      case "ended":
        return this.#note(`The session ended: ${event.message}`, "quiet")
      case "session":
      case "activity":
      case "status":
      case "configured":
        return
    }
  }

  #message(message: unknown): void {
    const read = AgentMessage.safeParse(message)
    if (!read.success || read.data.type === "stream_event") return
    const { parent_tool_use_id: parent } = read.data
    const into = this.#calls.get(parent ?? "")?.inside ?? this.entries
    if (read.data.type === "assistant") {
      for (const block of blocksOf(AssistantBlock, read.data.message.content)) {
        if (block.type === "text") into.push({ kind: "said", text: block.text })
        if (block.type === "tool_use") {
          const { id, name: tool, input } = block
          const call: ToolCall = { id, tool, input, result: null, inside: [] }
          this.#calls.set(id, call)
          into.push({ kind: "call", call })
        }
      }
      return
    }
    for (const block of blocksOf(UserBlock, read.data.message.content)) {
      if (block.type !== "tool_result") continue
      const call = this.#calls.get(block.tool_use_id)
      if (call === undefined) continue
      const text = outputText(read.data.tool_use_result) ?? resultText(block)
      call.result = { text, isError: block.is_error === true }
    }
  }

  #note(text: string, tone: "quiet" | "waits" | "bad"): void {
    if (text !== "") this.entries.push({ kind: "note", text, tone })
  }
}
