import type { ExecutionRecord } from "../execution/record.ts"
import type { ParsedParamsOf, ResultOf } from "../protocol/methods.ts"
import type { TranscriptReader, Verification } from "./ports.ts"

type Claim = Pick<ParsedParamsOf<"transcript.verify">, "contains" | "hash">
type Verdict = ResultOf<"transcript.verify">

/** Confirms or refutes a claim about an execution's output from the record alone. */
export async function verifyClaim(
  record: ExecutionRecord,
  claim: Claim,
  transcripts: TranscriptReader,
): Promise<Verdict> {
  const contains =
    claim.contains === undefined ? undefined : new TextEncoder().encode(claim.contains)
  const { id, transcript, hashes } = record
  const verification = await transcripts.verify(id, transcript, { contains, hashes })
  const chain = chainText(verification.chain)
  if (verification.chain.kind === "broken-at") {
    return { verified: false, chain, reason: verification.chain.why }
  }

  const { found } = verification
  if (contains !== undefined && found === null) {
    return { verified: false, chain, reason: missingText(verification) }
  }
  const hash = claim.hash === undefined ? undefined : matchingHash(record, claim.hash)
  if (hash === null) {
    const reason =
      hashes === null
        ? "it has not ended, or its hashes were lost: there is no final hash to compare with"
        : "the hash is neither the chain's nor that of a stream"
    return { verified: false, chain, reason }
  }
  return {
    verified: true,
    chain,
    ...(hash === undefined ? {} : { hash }),
    ...(found === null
      ? {}
      : {
          where: {
            type: found.stream,
            sequence: found.sequence,
            time: found.time.toISOString(),
          },
        }),
  }
}

function chainText(chain: Verification["chain"]): string {
  switch (chain.kind) {
    case "intact":
      return "intact"
    case "intact-from":
      return `intact from ${chain.sequence}`
    case "broken-at":
      return `broken at ${chain.sequence}`
  }
}

function missingText({ chain }: Verification): string {
  return chain.kind === "intact-from"
    ? "the text is not in what is kept; older output was forgotten"
    : "the text is not in the output"
}

function matchingHash(record: ExecutionRecord, hash: string): Verdict["hash"] | null {
  const wanted = hash.toLowerCase().replace(/^sha256:/, "")
  for (const name of ["chain", "stdout", "stderr"] as const) {
    if (record.hashes?.[name] === wanted) return name
  }
  return null
}
