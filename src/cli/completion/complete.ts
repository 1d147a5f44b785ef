import type { Context } from "../context.ts"
import type { Candidate, Offer } from "./offer.ts"
import { offerAt } from "./offer-at.ts"

/**
 * What a shell's script asks on TAB, with the words up to the one to complete. Answers lines: a
 * value, and after a tab what it is; or one line with a colon, where the shell knows better.
 */
export async function complete(context: Context, words: readonly string[]): Promise<number> {
  const lines = await linesOf(context, await offerAt(words))
  await context.stdout.write(lines.map((line) => `${line}\n`).join(""))
  return 0
}

async function linesOf(context: Context, offer: Offer): Promise<string[]> {
  switch (offer.kind) {
    case "candidates":
      return offer.candidates.map(candidateLine)
    case "executions": {
      // Most of the time nobody needs a service, nor what it takes to talk to one.
      const { offerExecutions } = await import("../executions/offer-executions.ts")
      return (await offerExecutions(context, offer.which)).map(candidateLine)
    }
    case "files":
    case "directories":
      return [`:${offer.kind}`]
    case "command":
      return [`:command ${offer.wordCount}`]
  }
}

function candidateLine({ value, about }: Candidate): string {
  return about === undefined ? value : `${value}\t${about}`
}
