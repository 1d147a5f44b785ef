import { z } from "zod"
import { readDuration } from "../../lib/duration.ts"
import { compileLinePattern, type LinePattern } from "../../lib/pattern/line-pattern.ts"

/** A suite of tests, as its file says: the form of the first generation. */
export type Suite = {
  id: string
  description: string
  categories: SuiteCategory[]
}

export type SuiteCategory = { name: string; description: string; tests: SuiteTest[] }

export type SuiteTest = {
  id: string
  name: string
  category: string
  act: SuiteAct
  patterns: SuitePattern[]
  timeoutSeconds: number | null
  /** Without any output. */
  stallSeconds: number | null
  /** Its command is meant to fail. */
  mustFail: boolean
}

export type SuiteAct =
  | { kind: "command"; command: string }
  /** Told to an agent; `template` is the command line that the file has for one. */
  | { kind: "request"; request: string; template: string | null; tags: string }

/**
 * What must stand in the output: a text in any case, a pattern that a line of it matches, or a text
 * that a tool has written which the agent has used, rather than the agent itself.
 */
export type SuitePattern =
  | { kind: "text"; text: string }
  | { kind: "executed"; text: string }
  | { kind: "regex"; text: string; pattern: LinePattern }

const mostPatternCharacters = 4096

const Text = z
  .string()
  .min(1, "an empty pattern is found in everything")
  .max(mostPatternCharacters)
  .refine((text) => !/[\r\n]/.test(text), "a pattern is looked for in each line: it has only one")

const Regex = z.strictObject({ regex: Text }).transform(({ regex }, context): SuitePattern => {
  const pattern = compileLinePattern(regex)
  if (pattern.ok) return { kind: "regex", text: regex, pattern: pattern.value }
  context.addIssue({ code: "custom", message: pattern.failure })
  return z.NEVER
})

const Executed = z
  .strictObject({ executed: Text })
  .transform(({ executed }): SuitePattern => ({ kind: "executed", text: executed }))

const Pattern = z.union(
  [Text.transform((text): SuitePattern => ({ kind: "text", text })), Regex, Executed],
  {
    error: (issue) =>
      wordsOf(issue) ?? 'must be a text of one line, `{"regex": …}` or `{"executed": …}`',
  },
)

/** Of the first form that was meant. */
function wordsOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== "invalid_union") return undefined
  const isMeant = ({ code }: z.core.$ZodIssue) => code !== "invalid_type"
  return issue.errors.flat().find(isMeant)?.message
}

const Seconds = z.union(
  [
    z.number().positive(),
    z.string().transform((text, context) => {
      const ms = readDuration(text)
      if (ms !== undefined && ms > 0) return ms / 1000
      context.addIssue({ code: "custom", message: "is not a duration" })
      return z.NEVER
    }),
  ],
  "must be seconds, or a duration such as `2m`",
)

const whatIsExpected = {
  expected_patterns: z.array(Pattern).max(1000).optional(),
  timeout: Seconds.optional(),
  stall_timeout: Seconds.optional(),
  expect_non_zero_exit: z.boolean().optional(),
}

const withoutNul = z
  .string()
  .min(1)
  .max(1_048_576)
  .refine((text) => !text.includes("\0"), "must not contain a NUL")

const Test = z
  .looseObject({
    id: z.coerce.string().min(1).max(200),
    name: z.string().optional(),
    command: withoutNul.optional(),
    natural_language_request: withoutNul.optional(),
    command_template: withoutNul.optional(),
    metatags: z.string().optional(),
    verification: z.looseObject(whatIsExpected).optional(),
    ...whatIsExpected,
  })
  .refine(
    (test) => test.command !== undefined || test.natural_language_request !== undefined,
    "needs a `command` or a `natural_language_request`",
  )
type Test = z.infer<typeof Test>

const Tests = z.array(Test).max(10_000)
const Category = z
  .looseObject({
    description: z.string().default(""),
    timeout: Seconds.optional(),
    tasks: Tests.optional(),
    tests: Tests.optional(),
  })
  .refine(
    ({ tasks, tests }) => tasks !== undefined || tests !== undefined,
    "needs `tasks` or `tests`",
  )

export const SuiteFile = z
  .looseObject({
    task_list_id: z.string().min(1).max(200),
    description: z.string().default(""),
    categories: z.record(z.string(), Category),
    execution_config: z.looseObject({ default_timeout: Seconds.optional() }).optional(),
  })
  .transform(({ task_list_id: id, description, categories, execution_config }): Suite => {
    const usual = execution_config?.default_timeout ?? null
    return {
      id,
      description,
      categories: Object.entries(categories).map(([name, category]) => {
        const { tasks = [], tests = [], timeout = usual } = category
        const all = [...tasks, ...tests].map((test) => suiteTest(name, test, timeout))
        return { name, description: category.description, tests: all }
      }),
    }
  })

function suiteTest(category: string, test: Test, usualTimeout: number | null): SuiteTest {
  const { verification = {} } = test
  return {
    id: test.id,
    name: test.name ?? test.id,
    category,
    act: actOf(test),
    patterns: [...(test.expected_patterns ?? []), ...(verification.expected_patterns ?? [])],
    timeoutSeconds: test.timeout ?? verification.timeout ?? usualTimeout,
    stallSeconds: test.stall_timeout ?? verification.stall_timeout ?? null,
    mustFail: test.expect_non_zero_exit ?? verification.expect_non_zero_exit ?? false,
  }
}

function actOf(test: Test): SuiteAct {
  const { command, natural_language_request: request = "", command_template, metatags } = test
  if (command !== undefined) return { kind: "command", command }
  return { kind: "request", request, template: command_template ?? null, tags: metatags ?? "" }
}
