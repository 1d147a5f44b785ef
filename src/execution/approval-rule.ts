import { z } from "zod"
import { readDuration } from "../lib/duration.ts"
import { readWholePattern } from "../lib/pattern/whole-pattern.ts"

/** What is decided about the questions of agents without a person; read from YAML, or sent. */

const mostRules = 100
const mostPatternCharacters = 65_536

const ruleName = z
  .string("every rule needs a name, such as `name: run-the-tests`")
  .regex(/^[\w.-]{1,64}$/, "use up to 64 letters, digits, and . _ -, such as `run-the-tests`")

const tool = z
  .string("write a tool's name, such as `tool: Bash`")
  .regex(
    /^(?:[^\s*]{1,256}\*?|\*)$/,
    "write a tool's name, such as `Bash`, or how several begin, such as `mcp__github__*`",
  )

const pattern = z
  .string("write a pattern in quotes, such as `command: 'npm (test|run lint)'`")
  .max(1024)
  .check((checked) => {
    const read = readWholePattern(checked.value)
    if (read.ok) return
    const message = `${read.failure}; a pattern is for example \`npm (test|run lint)( .*)?\``
    checked.issues.push({ code: "custom", input: checked.value, message })
  })

const decisions = z.enum(["allow", "deny", "ask"], "write `decide: allow`, `deny` or `ask`")
const after = z
  .string("write a duration with its unit, such as `after: 10m`")
  .refine((text) => isDuration(text), "write a duration from 1s to 30d, such as `after: 10m`")

const fields =
  "a rule has `name`, `tool`, `input`, `directory`, `decide`, `message`, `after` and `then`"

export const ApprovalRule = z
  .strictObject(
    {
      name: ruleName,
      tool: tool.describe("which tool: its name, or the beginning of several before a `*`"),
      input: z
        .record(
          z.string().min(1).max(256),
          pattern,
          "name fields of the tool's input, each below it",
        )
        .refine((input) => Object.keys(input).length <= 8, "at most 8 fields")
        .optional()
        .describe("patterns by field: each must match the whole of it; `command` is for the shell"),
      directory: z
        .string()
        .regex(/^\/(?:[^\0]{0,4094}[^/\0])?$/, "write an absolute path, such as `/srv/work`")
        .optional()
        .describe("the session's working directory is this one, or below it"),
      decide: decisions,
      message: z.string().max(4096).optional().describe("with `deny`: what the agent is told"),
      after: after.optional().describe("with `ask`: when it is decided without a person"),
      then: z
        .enum(["allow", "deny"], "write `then: deny` or `then: allow`")
        .optional()
        .describe("with `after`: what is decided"),
    },
    {
      error: (issue) =>
        issue.code === "unrecognized_keys"
          ? `unknown: ${issue.keys.join(", ")}; ${fields}`
          : undefined,
    },
  )
  .check((checked) => {
    const { decide, message, then } = checked.value
    const wrong = (path: string, problem: string) => {
      checked.issues.push({ code: "custom", input: checked.value, path: [path], message: problem })
    }
    const mayDeny = decide === "deny" || then === "deny"
    if (message !== undefined && !mayDeny) wrong("message", "only a rule that denies has a message")
    if ((checked.value.after === undefined) !== (then === undefined)) {
      wrong("after", "`after` and `then` belong together, such as `after: 10m` and `then: deny`")
    } else if (then !== undefined && decide !== "ask") {
      wrong("after", "only a rule with `decide: ask` waits: leave out `after` and `then`")
    }
  })
export type ApprovalRule = z.infer<typeof ApprovalRule>

export const ApprovalRules = z
  .array(ApprovalRule, "write a list of rules, each beginning with `- name: …`")
  .max(mostRules)
  .check((checked) => {
    const names = checked.value.map(({ name }) => name)
    const again = names.findIndex((name, index) => names.indexOf(name) !== index)
    if (again !== -1) {
      const message = `there is another rule called ${names[again]}: give each its own name`
      checked.issues.push({
        code: "custom",
        input: checked.value,
        path: [again, "name"],
        message,
      })
    }
    if (JSON.stringify(checked.value).length > mostPatternCharacters) {
      const message = `the rules have more than ${mostPatternCharacters} characters together`
      checked.issues.push({ code: "custom", input: checked.value, message })
    }
  })

/** As it was accepted once: whatever is asked of new ones later, records stay readable. */
export const RecordedRules = z.array(
  z.object({
    name: z.string(),
    tool: z.string(),
    input: z.record(z.string(), z.string()).optional(),
    directory: z.string().optional(),
    decide: decisions,
    message: z.string().optional(),
    after: z.string().optional(),
    then: z.enum(["allow", "deny"]).optional(),
  }),
)

const day = 86_400_000

function isDuration(text: string): boolean {
  const ms = readDuration(text)
  return ms !== undefined && ms >= 1000 && ms <= 30 * day && /[a-z]$/i.test(text)
}
