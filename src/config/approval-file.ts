import { type ApprovalRule, ApprovalRules } from "../execution/approval-rule.ts"
import { fail, type Result } from "../lib/result.ts"
import { readYaml, yamlFaultText } from "../lib/yaml/read-yaml.ts"

const mostCharacters = 262_144

/** A list of rules for one session; a failure completes the sentence "… cannot be used: ". */
export function readApprovalFile(text: string): Result<ApprovalRule[], string> {
  if (text.length > mostCharacters) return fail(`it has more than ${mostCharacters} characters`)
  const read = readYaml(text, ApprovalRules, { braces: "refused" })
  return read.ok ? read : fail(yamlFaultText(read.failure))
}
