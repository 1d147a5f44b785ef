import { z } from "zod"
import {
  type ArgumentRule,
  anyArguments,
  readBeginnings,
  wordsOf,
} from "../execution/argument-rule.ts"
import { fail, ok, type Result } from "../lib/result.ts"

const Words = z.string().min(1).transform(wordsOf).pipe(z.array(z.string()).min(1))
const Name = z.string().regex(/^[^=*\0]+\*?$/, "a variable name, or a prefix followed by *")

const howToAllow = "write `any`, or what the arguments must begin with: `status, log`"

/** `any`, `status, log`, a list of the same, or both what must and what must not be there. */
const Rule = z.union(
  [
    z.string().transform((text, context): ArgumentRule => {
      if (text.trim() === "any") return anyArguments
      const begin = readBeginnings(text)
      if (begin !== null) return { begin, never: [] }
      context.addIssue({ code: "custom", message: howToAllow })
      return z.NEVER
    }),
    z
      .array(Words)
      .min(1)
      .transform((begin): ArgumentRule => ({ begin, never: [] })),
    z
      .strictObject({
        begin: z.array(Words).min(1).optional(),
        never: z.array(z.string().min(1)).optional(),
      })
      .transform(({ begin = null, never = [] }): ArgumentRule => ({ begin, never })),
  ],
  howToAllow,
)

const ProgramName = z
  .string()
  .regex(/^(?:[^/\0]+|(?:\/[^/\0]+)+)$/, "a bare name or an absolute path")

const PolicyFileSchema = z.strictObject({
  commands: z.record(ProgramName, Rule).optional(),
  directories: z.array(z.string().startsWith("/")).min(1).optional(),
  environment: z.array(Name).optional(),
  inherit: z.array(Name).optional(),
})
export type PolicyFile = z.infer<typeof PolicyFileSchema>

/** The failure names the place in the file, and completes the sentence "… cannot be used: ". */
export function readPolicyFile(text: string): Result<PolicyFile, string> {
  let document: unknown
  try {
    document = Bun.YAML.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return fail(error.message)
  }
  if (/^[^#"']*:\s*\{/m.test(text)) return fail("write each entry on its own line, without braces")
  const repeated = repeatedKey(text)
  if (repeated !== null) return fail(`${repeated} is listed twice`)
  const read = PolicyFileSchema.safeParse(document ?? {})
  if (read.success) return ok(read.data)
  const [issue] = read.error.issues
  if (issue === undefined) return fail(read.error.message)
  const place = issue.path.map(String).join(" → ")
  return fail(place === "" ? issue.message : `${place}: ${issue.message}`)
}

/** Bun's parser takes the last of two equal keys: a rule would be gone without a word. */
function repeatedKey(text: string): string | null {
  const open: { indent: number; keys: Set<string> }[] = []
  for (const line of text.split("\n")) {
    const [, spaces = "", key] =
      /^( *)("[^"]*"|'[^']*'|[^\s#"'[{-][^#]*?)\s*:(?:\s|$)/.exec(line) ?? []
    if (key === undefined) continue
    const indent = spaces.length
    while ((open.at(-1)?.indent ?? -1) > indent) open.pop()
    if (open.at(-1)?.indent !== indent) open.push({ indent, keys: new Set() })
    const name = key.replace(/^["']|["']$/g, "")
    if (open.at(-1)?.keys.has(name) === true) return name
    open.at(-1)?.keys.add(name)
  }
  return null
}
