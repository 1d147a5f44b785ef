import { CallError } from "../../src/client/client-error.ts"
import type { Failure } from "../../src/protocol/failure.ts"
import { rejection } from "./following.ts"

/** What a request was refused with; fails when it was not. */
export async function refusal(work: Promise<unknown>): Promise<Failure> {
  const error = await rejection(work)
  if (error instanceof CallError) return error.failure
  throw error
}
