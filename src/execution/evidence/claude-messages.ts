import { type Counted, timesIn } from "./counted-json.ts"

/** What a message of Claude Code says of a text, part by part. */
export type Saying =
  | { kind: "said"; times: number }
  | { kind: "told"; times: number }
  /** The end of a turn, which repeats what was said last. */
  | { kind: "repeated"; times: number }
  | { kind: "use"; id: string; tool: string; input: Counted | undefined; times: number }
  | { kind: "output"; id: string; times: number; hasRun: boolean; failed: boolean }
  /** It asks for a permission to use a tool. */
  | { kind: "asks"; useId: string }

/** Whether a tool's output is what another agent said; of our own MCP server, too. */
export function isSpeaking(tool: string): boolean {
  return /^(?:Agent|Task|SendMessage|Workflow)$|^mcp__.*__agent_(?:wait|status)$/.test(tool)
}

/** Whether a tool's output is what a person said, or a prompt that was written before. */
export function isAsking(tool: string): boolean {
  return /^(?:AskUserQuestion|EnterPlanMode|ExitPlanMode|Skill)$/.test(tool)
}

export function sayingsOf(message: Counted): Saying[] {
  if (isTrue(field(message, "isReplay"))) return []
  switch (textOf(field(message, "type"))) {
    case "assistant":
    case "user":
      return blocksOf(message).flatMap((block) => sayingsOfBlock(block, message))
    case "result": {
      const times = timesIn(field(message, "result")) + timesIn(field(message, "structured_output"))
      return [{ kind: "repeated", times }]
    }
    case "control_request": {
      const useId = textOf(field(field(message, "request"), "tool_use_id"))
      return useId === "" ? [] : [{ kind: "asks", useId }]
    }
    default:
      return []
  }
}

export function field(value: Counted | undefined, name: string): Counted | undefined {
  return value?.kind === "object" ? value.fields.get(name) : undefined
}

export function textOf(value: Counted | undefined): string {
  return value?.kind === "text" ? value.head : ""
}

function isTrue(value: Counted | undefined): boolean {
  return value?.kind === "scalar" && value.written === "true"
}

function itemsOf(value: Counted | undefined): Counted[] {
  return value?.kind === "list" ? value.items : []
}

function blocksOf(message: Counted): Counted[] {
  const content = field(field(message, "message"), "content")
  return content?.kind === "text" ? [content] : itemsOf(content)
}

function sayingsOfBlock(block: Counted, message: Counted): Saying[] {
  const type = textOf(field(block, "type"))
  if (type.endsWith("tool_use")) return [useIn(block)]
  if (type.endsWith("tool_result")) return [outputIn(block, message)]
  const times = block.kind === "text" ? timesIn(block) : timesInWords(block)
  const isAgent = textOf(field(message, "type")) === "assistant"
  // What a subagent is told are the words of the agent that uses it.
  const isForSubagent = textOf(field(message, "parent_tool_use_id")) !== ""
  return [{ kind: isAgent || isForSubagent ? "said" : "told", times }]
}

/** In what a block says; not in what it is called. */
function timesInWords(block: Counted): number {
  if (block.kind !== "object") return timesIn(block)
  const words = [...block.fields].filter(([name]) => !/^(?:type|id|signature)$/.test(name))
  return words.reduce((sum, [, value]) => sum + timesIn(value), 0)
}

function useIn(block: Counted): Saying {
  const [name, input] = [field(block, "name"), field(block, "input")]
  const id = textOf(field(block, "id"))
  return { kind: "use", id, tool: textOf(name), input, times: timesIn(name) + timesIn(input) }
}

function outputIn(block: Counted, message: Counted): Saying {
  const id = textOf(field(block, "tool_use_id"))
  const content = field(block, "content")
  const failed = isTrue(field(block, "is_error"))
  // The same output as the model is shown, which may be numbered or cut.
  const isOnly = blocksOf(message).length === 1
  const whole = isOnly ? timesInWhole(field(message, "tool_use_result")) : 0
  const wasRefused = failed && textOf(content).startsWith("<tool_use_error>")
  const hasRun = !wasRefused && !notRun(message).includes(id)
  return { kind: "output", id, times: Math.max(timesIn(content), whole), hasRun, failed }
}

/** As Claude Code keeps the output of a command, and of a file. */
function timesInWhole(result: Counted | undefined): number {
  const outputs = timesIn(field(result, "stdout")) + timesIn(field(result, "stderr"))
  return outputs + timesIn(field(field(result, "file"), "content"))
}

/** The tools that were denied, or otherwise kept from running. */
function notRun(message: Counted): string[] {
  const metas = itemsOf(field(message, "tool_result_meta"))
  return metas.flatMap((meta) => {
    const decision = field(field(meta, "permission_decision"), "decision")
    const isKept = textOf(field(meta, "non_execution_kind")) !== ""
    return isKept || textOf(decision) === "reject" ? [textOf(field(meta, "id"))] : []
  })
}
