import { z } from "zod"
import { ApprovalRules } from "../execution/approval-rule.ts"
import {
  type ArgumentRule,
  anyArguments,
  readBeginnings,
  wordsOf,
} from "../execution/argument-rule.ts"
import { fail, type Result } from "../lib/result.ts"
import { readYaml, yamlFaultText } from "../lib/yaml/read-yaml.ts"

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
  approval: ApprovalRules.optional(),
})
export type PolicyFile = z.infer<typeof PolicyFileSchema>

/** The failure names the place in the file, and completes the sentence "… cannot be used: ". */
export function readPolicyFile(text: string): Result<PolicyFile, string> {
  const read = readYaml(text, PolicyFileSchema, { braces: "refused" })
  return read.ok ? read : fail(yamlFaultText(read.failure))
}
