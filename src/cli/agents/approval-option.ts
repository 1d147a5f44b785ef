import { resolve } from "node:path"
import { readApprovalFile } from "../../config/approval-file.ts"
import type { ApprovalRule } from "../../execution/approval-rule.ts"
import { errnoOf, messageOf } from "../../lib/errno.ts"
import { readGivenFile } from "../../lib/read-given-file.ts"
import type { Context } from "../context.ts"
import { UsageFailure } from "../failure.ts"

/** More than rules may have. */
const mostBytes = 1_048_576

/** The rules in the file that `--approval` names. */
export function approvalOption({ cwd }: Pick<Context, "cwd">, file: string): ApprovalRule[] {
  const rules = readApprovalFile(readText(resolve(cwd, file)))
  if (rules.ok) return rules.value
  throw new UsageFailure(`--approval ${file} cannot be used: ${rules.failure}.`)
}

function readText(path: string): string {
  try {
    return readGivenFile(path, mostBytes)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno !== null) throw new UsageFailure(`--approval ${path} cannot be read (${errno}).`)
    throw new UsageFailure(`--approval cannot be used: ${messageOf(error)}.`)
  }
}
