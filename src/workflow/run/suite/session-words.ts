import { z } from "zod"
import { SessionLog } from "../../../client/session-log.ts"
import { tryParseJson } from "../../../lib/parse-json.ts"
import type { SessionEvent } from "../../../protocol/agent-event.ts"

const Block = z.union([
  z.object({ type: z.literal("text"), text: z.string() }).transform(({ text }) => [text]),
  z
    .object({
      type: z.literal("tool_result"),
      content: z.union([z.string(), z.array(z.unknown())]),
    })
    .transform(({ content }) => (typeof content === "string" ? [content] : textsIn(content))),
])

const AgentMessage = z.object({
  type: z.literal("assistant"),
  message: z.object({ content: z.array(z.unknown()) }),
})
const ToolMessage = z.object({
  type: z.literal("user"),
  isReplay: z.literal(true).optional(),
  message: z.object({ content: z.array(z.unknown()) }),
})

/**
 * What the agent and its tools have written in a session, out of its log. What it was told is not
 * among that.
 */
export class SessionWords {
  readonly #log = new SessionLog()
  #parts = ""
  /** Of the last turn; null before its end. */
  lastTurn: string | null = null

  add(text: string): string[] {
    return this.#log.add("stdout", text).flatMap((notice) => {
      return notice.kind === "event" ? this.#wordsIn(notice.event) : []
    })
  }

  cut(): void {
    this.#log.cut()
  }

  #wordsIn(event: SessionEvent): string[] {
    if (event.event === "turn-ended") this.lastTurn = event.outcome
    if (event.event !== "message") return []
    if (event.part === undefined) return wordsOf(event.message)
    this.#parts = event.part === 0 ? (event.text ?? "") : this.#parts + (event.text ?? "")
    return event.last === true ? wordsOf(tryParseJson(this.#parts)) : []
  }
}

function wordsOf(message: unknown): string[] {
  const said = AgentMessage.safeParse(message)
  if (said.success) return blocksOf(said.data.message.content, "text")
  const told = ToolMessage.safeParse(message)
  if (!told.success || told.data.isReplay === true) return []
  return blocksOf(told.data.message.content, "tool_result")
}

function blocksOf(content: readonly unknown[], type: "text" | "tool_result"): string[] {
  const wanted = content.filter(
    (block) => z.object({ type: z.literal(type) }).safeParse(block).success,
  )
  return textsIn(wanted)
}

function textsIn(content: readonly unknown[]): string[] {
  return content.flatMap((block) => Block.safeParse(block).data ?? [])
}
