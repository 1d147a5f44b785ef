import { z } from "zod"

/** A use of a tool, and what came of it. */
export type ToolUse = { tool: string; input: unknown; answer: string; isError: boolean }

/** What a model is shown: the tools it is told of, and what it did so far. */
export type Conversation = {
  tools: string[]
  uses: ToolUse[]
  /** How many turns a person has begun. */
  turns: number
  /** What it was told at first; a subagent is told something else than its agent. */
  first: string
  /** What it was told last. */
  latest: string
}

const Text = z.object({ type: z.literal("text"), text: z.string() })
const Use = z.object({
  type: z.literal("tool_use"),
  id: z.string(),
  name: z.string(),
  input: z.unknown(),
})
const Result = z.object({
  type: z.literal("tool_result"),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(z.unknown())]).default(""),
  is_error: z.boolean().default(false),
})

/** A body of `POST /v1/messages`, as far as a script looks at it. */
export const MessagesRequest = z.object({
  model: z.string(),
  stream: z.boolean().default(false),
  tools: z.array(z.object({ name: z.string() })).default([]),
  messages: z.array(
    z.object({ role: z.string(), content: z.union([z.string(), z.array(z.unknown())]) }),
  ),
})
export type MessagesRequest = z.infer<typeof MessagesRequest>

export function readConversation({ tools, messages }: MessagesRequest): Conversation {
  const blocks = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content))
  const results = new Map(only(Result, blocks).map((result) => [result.tool_use_id, result]))
  const uses = only(Use, blocks).map(({ id, name, input }) => {
    const { content = "", is_error = false } = results.get(id) ?? {}
    return { tool: name, input, answer: textOf(content), isError: is_error }
  })
  const names = tools.map(({ name }) => name)
  const said = messages.flatMap(({ role, content }) => (role === "user" ? [textIn(content)] : []))
  const prompts = said.filter((text) => text !== "" && !text.startsWith("Continue from"))
  return {
    tools: names,
    uses,
    turns: prompts.length,
    first: prompts[0] ?? "",
    latest: prompts.at(-1) ?? "",
  }
}

/** What a person said, without what Claude Code adds. */
function textIn(content: string | unknown[]): string {
  const texts = typeof content === "string" ? [content] : only(Text, content).map((one) => one.text)
  return texts.filter((text) => !text.startsWith("<system-reminder>")).join("\n")
}

/** The blocks of one kind: there are more kinds than a script knows. */
function only<Schema extends z.ZodType>(schema: Schema, blocks: unknown[]): z.output<Schema>[] {
  return blocks.flatMap((block) => {
    const read = schema.safeParse(block)
    return read.success ? [read.data] : []
  })
}

function textOf(content: string | unknown[]): string {
  if (typeof content === "string") return content
  return only(Text, content)
    .map(({ text }) => text)
    .join("\n")
}
