import { z } from "zod"
import { Claim, Verdict } from "../../../../execution/verdict.ts"
import { fail } from "../../../../lib/result.ts"
import { failure } from "../../../../protocol/failure.ts"
import { exampleExecution } from "../execution-summary.ts"
import { executionId, reply, tool } from "./tool.ts"

export const verifyTool = tool({
  name: "verify",
  title: "Verify a claim about an execution",
  description:
    "Checks a claim against the record: did this execution really write this text (`contains`), " +
    "is this its hash (`hash`)? Of an agent's session: did a tool that ran there write this text " +
    "(`executed`), or did the agent only say so? The record is a hash chain, and is itself " +
    "checked for tampering. Use it before reporting that something passed, and to check what " +
    "somebody else reported.",
  input: z.strictObject({ execution_id: executionId, ...Claim.shape }),
  output: Verdict,
  examples: {
    input: { execution_id: exampleExecution.execution_id, contains: "All tests passed" },
    output: {
      verified: true,
      chain: "intact",
      where: { type: "stdout", sequence: 48_193, time: "2026-11-17T08:01:33.000Z" },
    },
    note: "VERIFIED. The record is intact. It is in stdout at byte 48193.",
  },
  annotations: { readOnlyHint: true, idempotentHint: true },
  needs: () => ["read"],
  async answer(args, { operations, caller }) {
    const { contains, hash, executed: claimed } = args
    if (contains === undefined && hash === undefined && claimed === undefined) {
      const message = "There is no claim to check: use `contains`, `hash` or `executed`."
      return fail(failure("INVALID_PARAMS", message))
    }
    const checked = await operations.verify(caller, args)
    if (!checked.ok) return checked
    const { verified, chain, reason, where, executed } = checked.value
    const isShown = executed !== undefined && verified
    const meaning = isShown ? ` ${executed.note} ${executed.caveat}` : ""
    const found = where === undefined ? "" : ` It is in ${where.type} at byte ${where.sequence}.`
    const what = verified ? "VERIFIED" : `NOT VERIFIED: ${reason ?? "the record does not show it"}`
    return reply(`${what}. The record is ${chain}.${found}${meaning}`, checked.value)
  },
})
