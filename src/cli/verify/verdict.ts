import type { Claim, Verdict as TranscriptCheck } from "../../execution/verdict.ts"
import { evidenceLines } from "./evidence-lines.ts"

/** What is known of a receipt once it was looked at. */
export type ReceiptCheck =
  | { status: "trusted" | "self-attested"; key: string }
  | { status: "invalid"; why: string }
  /** There is none, or no key to check it with: neither speaks against the execution. */
  | { status: "unchecked"; why: string }

export type Verdict = {
  verified: boolean
  execution_id: string
  /** Null when only a receipt was given. */
  transcript: TranscriptCheck | null
  receipt: ReceiptCheck
}

export function verdictOf(
  executionId: string,
  transcript: TranscriptCheck | null,
  receipt: ReceiptCheck,
): Verdict {
  const isShown = transcript !== null || receipt.status !== "unchecked"
  const isRefuted = transcript?.verified === false || receipt.status === "invalid"
  return { verified: isShown && !isRefuted, execution_id: executionId, transcript, receipt }
}

export function verdictLines({ transcript, receipt, ...verdict }: Verdict, claim: Claim): string[] {
  return [
    ...(transcript === null ? [] : transcriptLines(transcript, claim)),
    `receipt     ${receiptText(receipt)}`,
    verdict.verified ? "verified" : "NOT VERIFIED",
  ]
}

function transcriptLines(check: TranscriptCheck, claim: Claim): string[] {
  const { where } = check
  const reason = check.reason === undefined ? "" : `: ${check.reason}`
  const lines = [`transcript  ${check.chain}${check.chain.startsWith("broken") ? reason : ""}`]
  const isRefuted = !check.verified && !check.chain.startsWith("broken")
  if (claim.contains !== undefined && where !== undefined) {
    lines.push(`text        found in ${where.type} at byte ${where.sequence}, ${where.time}`)
  }
  if (claim.hash !== undefined && check.hash !== undefined) {
    lines.push(`hash        matches ${check.hash}`)
  }
  if (check.executed !== undefined) lines.push(...evidenceLines(check.executed))
  if (isRefuted) lines.push(`claim       refuted${reason}`)
  return lines
}

function receiptText(receipt: ReceiptCheck): string {
  switch (receipt.status) {
    case "trusted":
      return `valid, signed by the trusted key ${receipt.key}`
    case "self-attested":
      return `valid, signed by key ${receipt.key}; check that key with --public-key FILE`
    case "invalid":
      return `INVALID: ${receipt.why}`
    case "unchecked":
      return `not checked: ${receipt.why}`
  }
}
