import {
  type AgentMessage,
  AssistantBlock,
  blocksOf,
  outputText,
  resultText,
  UserBlock,
} from "../../../client/messages/agent-message.ts"
import { inputFields, textField, toolEssence } from "../../../client/messages/tool-input.ts"
import { foldedDiff, patchLines } from "./diff-lines.ts"
import { blankLine, foldedLines, type Line, line, linesOf } from "./line.ts"

type Call = { tool: string; path: string; isSeen: boolean }
type Block = "none" | "turn" | "text" | "tool" | "other"
type Of<Type extends AgentMessage["type"]> = Extract<AgentMessage, { type: Type }>

const mostResultLines = 3
const mostThinkingLines = 2
const mostDiffLines = 40
/** Of calls without a result; subagents can have many. */
const mostCalls = 1_000
/** Of one line, while the agent still speaks it. */
const mostUnfinished = 20_000
const mostRemembered = 2_000

/** Makes lines of what the agent says and does. */
export class MessageLines {
  /** Null unless a text is being streamed; how much of it has come. */
  #streamedChars: number | null = null
  #unfinished = ""
  #block: Block = "none"
  /** Calls without a result yet, by their ids. */
  readonly #calls = new Map<string, Call>()
  #lastCall = ""
  /** Why calls were denied, which the agent is told as their results. */
  #denials: string[] = []
  /** The end of what the agent said last. */
  #lastText = ""

  get unfinished(): string {
    return this.#unfinished
  }

  hasSaid(text: string): boolean {
    return this.#lastText.endsWith(text.trim().slice(-mostRemembered))
  }

  /** Something else begins. */
  begin(block: Block): void {
    this.#block = block
  }

  /** A change that was shown in a question is not shown again when it is made. */
  hasSeen(tool: string | null, input: unknown): void {
    const [path] = textField(inputFields(input), "file_path")
    for (const [id, call] of this.#calls) {
      if (call.tool === tool && call.path === path) this.#calls.set(id, { ...call, isSeen: true })
    }
  }

  /** A reason that was shown with the denial is not shown again as the result. */
  hasDenied(reason: string): void {
    this.#denials = [...this.#denials.slice(-mostCalls), reason.trim()]
  }

  read(message: AgentMessage): Line[] {
    switch (message.type) {
      case "stream_event":
        return message.parent_tool_use_id ? [] : this.#streamed(message)
      case "assistant":
        return this.#assistant(message)
      case "user":
        return this.#user(message)
    }
  }

  /** Ends the line that is being spoken. Of a text that was cut nothing more is known. */
  finish(how: "whole" | "open" | "cut"): Line[] {
    const rest = this.#unfinished
    this.#unfinished = ""
    if (how !== "open") this.#streamedChars = null
    return rest === "" ? [] : [textLine(rest)]
  }

  #streamed({ event }: Of<"stream_event">): Line[] {
    if (event.type === "content_block_start" && event.content_block?.type === "text") {
      this.#streamedChars = 0
      return [...this.finish("open"), ...this.#separated("text")]
    }
    const text = event.delta?.text
    if (event.delta?.type !== "text_delta" || text === undefined) return []
    // Whoever came too late for the beginning waits for the whole of it.
    if (this.#streamedChars === null) return []
    this.#streamedChars += text.length
    return this.#spoken(text)
  }

  #spoken(text: string): Line[] {
    this.#lastText = (this.#lastText + text).slice(-2 * mostRemembered)
    const [first = "", ...others] = text.split("\n")
    const last = others.pop()
    if (last === undefined) {
      // A line that is cut in the end anyway does not grow here.
      if (this.#unfinished.length < mostUnfinished) this.#unfinished += first
      return []
    }
    const lines = [this.#unfinished + first, ...others]
    this.#unfinished = last
    return lines.map(textLine)
  }

  #assistant({ message, parent_tool_use_id }: Of<"assistant">): Line[] {
    const isSubagent = typeof parent_tool_use_id === "string"
    const lines = blocksOf(AssistantBlock, message.content).flatMap((block) => {
      switch (block.type) {
        case "text":
          return isSubagent ? textLines(block.text) : this.#text(block.text)
        case "thinking":
          return foldedLines(block.thinking, mostThinkingLines, { prefix: "∴ ", colour: "dim" })
        case "tool_use":
          return this.#call(block)
      }
    })
    return isSubagent ? lines.map(ofSubagent) : lines
  }

  #text(text: string): Line[] {
    const streamed = this.#streamedChars
    this.#streamedChars = null
    const begin = streamed === null ? this.#separated("text") : []
    return [...begin, ...this.#spoken(text.slice(streamed ?? 0)), ...this.finish("whole")]
  }

  #call({ id, name, input }: Extract<AssistantBlock, { type: "tool_use" }>): Line[] {
    if (this.#calls.size >= mostCalls) this.#calls.clear()
    const [path = ""] = textField(inputFields(input), "file_path")
    this.#calls.set(id, { tool: name, path, isSeen: false })
    this.#lastCall = id
    const text = `${name} ${toolEssence(name, input)}`.trim()
    const called = line(text, { prefix: "● ", colour: "cyan", isCut: true })
    return [...this.finish("whole"), ...this.#separated("tool"), called]
  }

  #user({ message, parent_tool_use_id, tool_use_result, isReplay }: Of<"user">): Line[] {
    if (isReplay === true) return []
    const lines = blocksOf(UserBlock, message.content).flatMap((block) => {
      if (block.type === "text") return []
      const call = this.#calls.get(block.tool_use_id)
      this.#calls.delete(block.tool_use_id)
      const isError = block.is_error === true
      const patch = isError || call?.isSeen === true ? [] : patchLines(tool_use_result)
      if (patch.length > 0) return foldedDiff(patch, mostDiffLines)
      const said = (isError ? null : outputText(tool_use_result)) ?? resultText(block)
      if (this.#isDenial(said)) return []
      const colour = isError ? ("red" as const) : ("dim" as const)
      const name = this.#lastCall === block.tool_use_id ? "" : `${call?.tool ?? "tool"}: `
      const prefix = `  └ ${name}`
      return foldedLines(said || "(nothing)", mostResultLines, { prefix, colour, isCut: true })
    })
    return typeof parent_tool_use_id === "string" ? lines.map(ofSubagent) : lines
  }

  #isDenial(result: string): boolean {
    const at = this.#denials.indexOf(result.trim())
    if (at === -1) return false
    this.#denials.splice(at, 1)
    return true
  }

  /** An empty line between what is of different kinds. */
  #separated(block: Block): Line[] {
    const isFirst = this.#block === "none"
    const isSame = this.#block === block && block === "tool"
    this.#block = block
    return isFirst || isSame ? [] : [blankLine]
  }
}

function textLines(text: string): Line[] {
  return linesOf(text).map(({ text: one }) => textLine(one))
}

function textLine(text: string): Line {
  return line(text, { colour: /^#{1,6} /.test(text) ? "bold" : null })
}

function ofSubagent(one: Line): Line {
  return { ...one, prefix: `  │ ${one.prefix}` }
}
