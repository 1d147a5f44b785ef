import { z } from "zod"
import { readChoices } from "../../../client/messages/choices.ts"
import { inputFields, textField } from "../../../client/messages/tool-input.ts"
import type { Question } from "../../../execution/agent.ts"
import { foldedDiff, replacementLines } from "./diff-lines.ts"
import { type Line, line, linesOf } from "./line.ts"

/** Whoever answers wants to see everything; past this it is looked at elsewhere. */
const mostLines = 400
const indent = "    "

/** A question with exactly what it is about. */
export function questionLines(question: Question): Line[] {
  const { question_id, tool, title, kind, description, subagent } = question
  const who = subagent === null ? "It" : `The subagent ${subagent}`
  const what = kind === "choice" || tool === null ? "asks" : `wants to use ${tool}`
  const name = title === null || title === tool ? "" : `: ${title}`
  const about = description === null || description === "" ? "" : ` (${description})`
  return [
    line(`${who} ${what}${name}${about}`, { prefix: `? ${question_id} `, colour: "yellow" }),
    ...foldedDiff(bodyLines(question), mostLines),
  ]
}

function bodyLines({ tool, input, input_bytes }: Question): Line[] {
  if (input_bytes !== undefined) {
    return [line(`(${input_bytes} bytes: see \`cc-executor logs --raw\`)`, { prefix: indent })]
  }
  const choices = readChoices(input)
  if (choices !== null) return choices.flatMap(choiceLines)
  const { description: _, ...fields } = inputFields(input)
  const { shown, lines } = knownBody(tool, fields)
  const rest = Object.entries(fields).filter(([name]) => !shown.includes(name))
  return [...lines, ...rest.flatMap(([name, value]) => fieldLines(name, value))]
}

type Body = { shown: readonly string[]; lines: Line[] }

function knownBody(tool: string | null, fields: Record<string, unknown>): Body {
  const [path = ""] = textField(fields, "file_path")
  const [command] = textField(fields, "command")
  const [content] = textField(fields, "content")
  const [before] = textField(fields, "old_string")
  const [after] = textField(fields, "new_string")
  const file = line(path, { prefix: indent, colour: "bold" })
  if (tool === "Bash" && command !== undefined) {
    return { shown: ["command"], lines: linesOf(command, { prefix: "  $ ", colour: "bold" }) }
  }
  if (tool === "Write" && content !== undefined) {
    return { shown: ["file_path", "content"], lines: [file, ...replacementLines("", content)] }
  }
  if (tool === "Edit" && before !== undefined && after !== undefined) {
    const lines = [file, ...replacementLines(before, after)]
    const all = fields["replace_all"] === true ? [] : ["replace_all"]
    return { shown: ["file_path", "old_string", "new_string", ...all], lines }
  }
  return { shown: [], lines: [] }
}

function fieldLines(name: string, value: unknown): Line[] {
  const text = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "")
  return linesOf(text, { prefix: `${indent}${name}: ` })
}

function choiceLines({ question, options }: NonNullable<ReturnType<typeof readChoices>>[number]) {
  return [
    line(question, { prefix: indent, colour: "bold" }),
    ...options.map(({ label, description }, index) =>
      line(description === undefined ? label : `${label}: ${description}`, {
        prefix: `${indent}${index + 1}. `,
      }),
    ),
  ]
}

const Mode = z.object({ type: z.literal("setMode"), mode: z.string() })
const Rules = z.object({
  rules: z.array(z.object({ toolName: z.string(), ruleContent: z.string().nullish() })),
})
const Directories = z.object({ directories: z.array(z.string()) })

/** What `always` would allow from then on; null where the agent suggests nothing. */
export function rememberedText({ suggestions }: Pick<Question, "suggestions">): string | null {
  if (suggestions.length === 0) return null
  return suggestions.map(suggestionText).join(", ")
}

function suggestionText(suggestion: unknown): string {
  const mode = Mode.safeParse(suggestion)
  if (mode.success) return `mode ${mode.data.mode}`
  const rules = Rules.safeParse(suggestion)
  if (rules.success) {
    const named = rules.data.rules.map(({ toolName, ruleContent }) =>
      ruleContent ? `${toolName}(${ruleContent})` : toolName,
    )
    return named.join(", ")
  }
  const directories = Directories.safeParse(suggestion)
  if (directories.success) return directories.data.directories.join(", ")
  return JSON.stringify(suggestion) ?? ""
}
