import { Digest } from "../../../execution/trial/announcement.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { TrialBeginParams } from "../../../protocol/trial.ts"
import type { ChainPlace, TrialStore } from "../trial-store.ts"

/** Where the next announcement of a work stands; `chain` is null for the first. */
export type NextPlace = { chain: Digest | null; sequence: number; previous: Digest | null }

export function nextPlace(
  principal: string,
  { chain, continues, ...work }: TrialBeginParams["work"],
  store: Pick<TrialStore, "head" | "headAt">,
): Result<NextPlace, Failure> {
  if (chain === undefined) {
    if (continues !== undefined) return fail(withoutChain)
    const head = store.headAt(principal, work)
    return ok(head === null ? { chain: null, sequence: 1, previous: null } : after(head))
  }
  const head = store.head(principal, chain)
  const elsewhere = continues === undefined ? null : { chain, ...continues }
  if (head === null) return elsewhere === null ? fail(unknownChain(chain)) : ok(after(elsewhere))
  if (elsewhere === null || elsewhere.sequence < head.sequence) return ok(after(head))
  if (elsewhere.sequence > head.sequence) return ok(after(elsewhere))
  return elsewhere.digest === head.digest ? ok(after(head)) : fail(forked(head, elsewhere.digest))
}

function after({ chain, sequence, digest }: ChainPlace): NextPlace {
  return { chain, sequence: sequence + 1, previous: digest }
}

const withoutChain = failure(
  "INVALID_PARAMS",
  "`continues` names the end of a chain: give its `chain`, too.",
)

function unknownChain(chain: Digest): Failure {
  const message =
    `This service has no trials of the chain ${chain} for you: give the last one of its ` +
    "ledger as `continues`, and it goes on here."
  return failure("INVALID_PARAMS", message)
}

function forked({ chain, sequence, digest }: ChainPlace, other: Digest): Failure {
  const message =
    `Number ${sequence} of the chain ${chain} is ${digest} here, but ${other} in \`continues\`: ` +
    "two services have gone on with the same ledger. Restore the one that is right."
  return failure("WRONG_STATE", message)
}
