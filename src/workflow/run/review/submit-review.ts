import { join } from "node:path"
import { z } from "zod"
import { tryParseJson } from "../../../lib/parse-json.ts"
import { NewFixes } from "../../documents/review/fix-form.ts"
import { reviewId } from "../../documents/review/review-name.ts"
import { readWorkFile } from "../files/read-work.ts"
import { findRepository } from "../places/git.ts"
import { WorkFailure } from "../work-failure.ts"
import type { World } from "../world.ts"
import { deliveryPaths, type ReviewPaths, refuseAnswered, writeDelivery } from "./deliver-review.ts"
import { readDelivery } from "./delivery-faults.ts"
import { checkQuotes } from "./quoted-executions.ts"
import { requestOf } from "./request-of.ts"
import { reviewHome } from "./round-files.ts"

const Submission = z.strictObject({ feedback: z.string(), fixes: NewFixes })

/** Writes what a reviewer says into the two files of its round, once it is in their form. */
export async function submitReview(
  world: World,
  given: string,
  input: string,
  out: string | null,
): Promise<ReviewPaths> {
  const read = readWorkFile(given)
  const { name, settings } = requestOf(read)
  const home = reviewHome(read.path)
  const paths = deliveryPaths(out ?? join(home, "executor"), name)
  // Who is asked by `review run` may write its files again, until it has finished.
  const isAsked = world.within !== null
  if (!isAsked) refuseAnswered(paths, name)
  const parsed = Submission.safeParse(tryParseJson(input))
  if (!parsed.success) {
    throw new WorkFailure(`This is not {feedback, fixes}: ${z.prettifyError(parsed.error)}`)
  }
  const { feedback, fixes } = parsed.data
  const list = {
    review_id: reviewId(name),
    component: name.component,
    date: world.now().toISOString().slice(0, 10),
    fixes,
  }
  const text = `${JSON.stringify(list, null, 2)}\n`
  const texts = readDelivery({ feedback: Buffer.from(feedback), fixes: Buffer.from(text) }, name)
  if (!texts.ok) throw new WorkFailure(refusal(texts.failure))
  const usage = settings.checks.map(({ run }) => run)
  const directories = [findRepository(home) ?? home]
  const quotes = await checkQuotes(world, feedback, { directories, usage })
  if (quotes.faults.length > 0) throw new WorkFailure(refusal(quotes.faults))
  await writeDelivery(paths, name, texts.value, quotes.executions, { isAnsweredAgain: isAsked })
  return paths
}

function refusal(faults: readonly string[]): string {
  return `Nothing was written, because of this:\n${faults.map((fault) => `  ${fault}`).join("\n")}`
}
