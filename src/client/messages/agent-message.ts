import { z } from "zod"

/** What Claude Code says, as far as it is shown; whatever else it says is passed over. */

const ToolUse = z.object({
  type: z.literal("tool_use"),
  id: z.string(),
  name: z.string(),
  input: z.unknown(),
})
const ToolResult = z.object({
  type: z.literal("tool_result"),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(z.unknown())]).nullish(),
  is_error: z.boolean().nullish(),
})
const TextBlock = z.object({ type: z.literal("text"), text: z.string() })
const ThinkingBlock = z.object({ type: z.literal("thinking"), thinking: z.string() })

export const AssistantBlock = z.discriminatedUnion("type", [ToolUse, TextBlock, ThinkingBlock])
export type AssistantBlock = z.infer<typeof AssistantBlock>
export const UserBlock = z.discriminatedUnion("type", [ToolResult, TextBlock])
export type ToolResult = z.infer<typeof ToolResult>

const parent = { parent_tool_use_id: z.string().nullish() }
const content = z.object({ content: z.union([z.string(), z.array(z.unknown())]) })

export const AgentMessage = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("stream_event"),
    ...parent,
    event: z.object({
      type: z.string(),
      content_block: z.object({ type: z.string() }).optional(),
      delta: z.object({ type: z.string().optional(), text: z.string().optional() }).optional(),
    }),
  }),
  z.object({ type: z.literal("assistant"), ...parent, message: content }),
  z.object({
    type: z.literal("user"),
    ...parent,
    message: content,
    tool_use_result: z.unknown().optional(),
    isReplay: z.boolean().optional(),
  }),
])
export type AgentMessage = z.infer<typeof AgentMessage>

/** The blocks of known kinds. */
export function blocksOf<Block>(
  schema: z.ZodType<Block>,
  given: string | readonly unknown[],
): Block[] {
  const blocks = typeof given === "string" ? [{ type: "text", text: given }] : given
  return blocks.flatMap((block) => {
    const read = schema.safeParse(block)
    return read.success ? [read.data] : []
  })
}

/** What a tool answered; what is no text is named. */
export function resultText({ content: given }: ToolResult): string {
  if (typeof given === "string") return given
  return (given ?? []).map(blockText).join("\n")
}

const Output = z.object({ stdout: z.string(), stderr: z.string().optional() })

/** What a command wrote, of which the agent may have been told only a part. */
export function outputText(toolResult: unknown): string | null {
  const read = Output.safeParse(toolResult)
  if (!read.success) return null
  const { stdout, stderr = "" } = read.data
  return [stdout, stderr].filter((text) => text !== "").join("\n")
}

function blockText(block: unknown): string {
  const text = TextBlock.safeParse(block)
  if (text.success) return text.data.text
  const other = z.object({ type: z.string() }).safeParse(block)
  return `(${other.success ? other.data.type : "something"})`
}
