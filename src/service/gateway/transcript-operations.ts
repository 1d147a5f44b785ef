import type { Result } from "../../lib/result.ts"
import type { Failure } from "../../protocol/failure.ts"
import type { ParsedParamsOf, ResultOf } from "../../protocol/methods.ts"
import type { Caller } from "../access/caller.ts"

type TranscriptMethod = "transcript.read" | "transcript.search" | "transcript.verify"

type Ask<Name extends TranscriptMethod> = (
  caller: Caller,
  params: ParsedParamsOf<Name>,
) => Promise<Result<ResultOf<Name>, Failure>>

/** What may be asked about what an execution has written, without following it. */
export interface TranscriptOperations {
  readTranscript: Ask<"transcript.read">
  search: Ask<"transcript.search">
  verify: Ask<"transcript.verify">
}
