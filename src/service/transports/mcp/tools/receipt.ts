import { z } from "zod"
import { Receipt, SignedReceipt } from "../../../../execution/receipt.ts"
import { exampleExecution } from "../execution-summary.ts"
import { executionId, reply, tool } from "./tool.ts"

export const receiptTool = tool({
  name: "receipt",
  title: "Get an execution's receipt",
  description:
    "The signed receipt of an ended execution: what was run, by whom, when, how it ended, how " +
    "much it wrote, the hashes of its output. It proves this to others, and outlives the output.",
  input: z.strictObject({ execution_id: executionId }),
  output: z.object({
    receipt: z.looseObject({}).describe("what is attested: execution_id, outcome, hashes, times …"),
    signed: SignedReceipt.describe("the signed form (a DSSE envelope, Ed25519)"),
  }),
  examples: {
    input: { execution_id: exampleExecution.execution_id },
    output: {
      receipt: {
        execution_id: exampleExecution.execution_id,
        outcome: { kind: "exited", exitCode: 0 },
      },
      signed: {
        payloadType: "application/vnd.cc-executor.receipt+json",
        payload: "eyJ2ZXJzaW9uIjoxfQ==",
        signatures: [{ keyid: "5f1e…", sig: "pM3q…" }],
      },
    },
    note: "This is what the service attests; others can check it with `cc-executor verify`.",
  },
  annotations: { readOnlyHint: true, idempotentHint: true },
  needs: () => ["read"],
  async answer({ execution_id }, { operations, caller }) {
    const found = await operations.receipt(caller, execution_id)
    if (!found.ok) return found
    const receipt = readReceipt(found.value)
    const attested =
      "This is what the service attests; others can check it with `cc-executor verify`."
    return reply(attested, { receipt, signed: found.value }, JSON.stringify(receipt, null, 2))
  },
})

export function readReceipt({ payload }: SignedReceipt): Receipt {
  return Receipt.parse(JSON.parse(Buffer.from(payload, "base64").toString("utf8")))
}
