import type { ExecutionRecord } from "../../../execution/record.ts"
import { delay } from "../../../lib/delay.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { ReadPosition, TranscriptReader } from "../ports.ts"

const lineEnd = 10
/** The name of an event stands at the beginning of its line. */
const headBytes = 128

/** Passes on the lines of a session's log, with the names of their events; or says what failed. */
export async function eachLogLine(
  { id, transcript }: ExecutionRecord,
  transcripts: Pick<TranscriptReader, "read">,
  take: (event: string, line: Buffer) => void,
): Promise<Result<null, string>> {
  let position: ReadPosition = { ...transcript.start, inside: 0 }
  let held: Buffer[] = []
  while (true) {
    const outcome = transcripts.read(id, position, transcript)
    switch (outcome.kind) {
      case "at-end":
        return ok(null)
      case "forgotten":
        position = outcome.next
        held = []
        break
      case "resized":
        position = outcome.next
        break
      case "damaged":
        return fail(`Its log is damaged: ${outcome.why}.`)
      case "expired":
        return fail("Its log is no longer kept.")
      case "piece": {
        const { stream, bytes, next } = outcome.piece
        position = next
        if (stream === "stdout") held = takeLines([...held, Buffer.from(bytes)], take)
        await delay(0) // others want to be served, too
      }
    }
  }
}

/** Answers the beginning of the line that is not whole yet. */
function takeLines(pieces: Buffer[], take: (event: string, line: Buffer) => void): Buffer[] {
  const last = pieces.at(-1)
  if (last?.includes(lineEnd) !== true) return pieces
  const all = Buffer.concat(pieces)
  let from = 0
  for (let at = all.indexOf(lineEnd); at !== -1; at = all.indexOf(lineEnd, from)) {
    const line = all.subarray(from, at)
    const head = line.toString("latin1", 0, headBytes)
    take(/^\{"v":\d+,"n":\d+,"at":"[^"]*","event":"([\w-]+)"/.exec(head)?.[1] ?? "", line)
    from = at + 1
  }
  return from === all.length ? [] : [all.subarray(from)]
}
