import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { readApprovalFile } from "../../config/approval-file.ts"
import type { ApprovalRule } from "../../execution/approval-rule.ts"
import { errnoOf } from "../../lib/errno.ts"
import type { Context } from "../context.ts"
import { UsageFailure } from "../failure.ts"

/** The rules in the file that `--approval` names. */
export function approvalOption({ cwd }: Pick<Context, "cwd">, file: string): ApprovalRule[] {
  const rules = readApprovalFile(readText(resolve(cwd, file)))
  if (rules.ok) return rules.value
  throw new UsageFailure(`--approval ${file} cannot be used: ${rules.failure}.`)
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    throw new UsageFailure(`--approval ${path} cannot be read (${errno}).`)
  }
}
