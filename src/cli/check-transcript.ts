import type { TranscriptFacts, TranscriptHashes } from "../execution/record.ts"
import type { TranscriptFiles } from "../transcript/segment-files.ts"
import { verifyTranscript } from "../transcript/verify.ts"
import type { Claim, TranscriptCheck } from "./verdict.ts"

/** What is said of the output: by the receipt where there is one, else by the journal. */
export type Recorded = { transcript: TranscriptFacts; hashes: TranscriptHashes | null }

/** The same answer as the service's `transcript.verify`, from the files alone. */
export async function checkTranscript(
  files: TranscriptFiles,
  { transcript, hashes }: Recorded,
  claim: Claim,
): Promise<TranscriptCheck> {
  const contains =
    claim.contains === undefined ? undefined : new TextEncoder().encode(claim.contains)
  const { chain: found, found: place } = await verifyTranscript(files, transcript, {
    contains,
    hashes,
  })
  const chain = chainText(found)
  if (found.kind === "broken-at") return { verified: false, chain, reason: found.why }
  if (contains !== undefined && place === null) {
    return { verified: false, chain, reason: "the text is not in the output that is kept" }
  }
  const hash = claim.hash === undefined ? undefined : hashName(claim.hash, hashes)
  if (hash === null) {
    return { verified: false, chain, reason: "the hash is neither the chain's nor a stream's" }
  }
  return {
    verified: true,
    chain,
    ...(hash === undefined ? {} : { hash }),
    ...(place === null
      ? {}
      : {
          where: {
            type: place.stream,
            sequence: place.sequence,
            time: place.time.toISOString(),
          },
        }),
  }
}

type Chain = Awaited<ReturnType<typeof verifyTranscript>>["chain"]

function chainText(chain: Chain): string {
  switch (chain.kind) {
    case "intact":
      return "intact"
    case "intact-from":
      return `intact from ${chain.sequence}`
    case "broken-at":
      return `broken at ${chain.sequence}`
  }
}

function hashName(claimed: string, hashes: TranscriptHashes | null) {
  const wanted = claimed.toLowerCase().replace(/^sha256:/, "")
  const names = ["chain", "stdout", "stderr"] as const
  return names.find((name) => hashes?.[name] === wanted) ?? null
}
