import { setImmediate } from "node:timers/promises"
import { type Position, startOfTranscript } from "../../../execution/record.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { Caller } from "../../access/caller.ts"
import type { Answer, Cursor, Location, TranscriptReader } from "../ports.ts"
import { decodeCursor, encodeCursor } from "./cursor.ts"
import type { Followed } from "./live-executions.ts"
import { type FeedStart, noHeld } from "./output-feed.ts"
import type { ReadScheduler } from "./read-scheduler.ts"

/** Where the output begins that a caller asks for `from` a word, a cursor, a time or a length. */
export async function feedStart(
  transcripts: TranscriptReader,
  reads: ReadScheduler,
  followed: Followed,
  from: string,
  caller: Caller,
): Answer<FeedStart> {
  const { id } = followed.record
  const facts = followed.transcript
  if (from === "start") return ok(startAt(startOfTranscript))
  if (from === "tail") return ok(startAt(facts.end))
  const lines = /^tail:(\d{1,9})$/.exec(from)?.[1]
  if (lines !== undefined) return ok(startAt(transcripts.tail(id, facts, { lines: Number(lines) })))
  const bytes = /^tail-bytes:(\d{1,15})$/.exec(from)?.[1]
  if (bytes !== undefined) return ok(startAt(transcripts.tail(id, facts, { bytes: Number(bytes) })))
  const line = /^line:(\d{1,15})$/.exec(from)?.[1]
  if (line !== undefined) return ok(startAt(transcripts.line(id, facts, Number(line))))
  const passed = /^at:(\d{1,15})$/.exec(from)?.[1]
  if (passed !== undefined) {
    const left = Math.max(0, facts.end.sequence - Number(passed))
    return ok(startAt(transcripts.tail(id, facts, { bytes: left })))
  }
  const time = /^since:(.+)$/.exec(from)?.[1]
  if (time !== undefined && !Number.isNaN(Date.parse(time))) {
    return ok(startAt(transcripts.since(id, facts, new Date(time))))
  }
  const cursor = decodeCursor(from)
  if (cursor === null) return notACursor(from, "it does not look like one")
  const located = await locate(transcripts, reads, followed, cursor, caller)
  if (!located.ok) return located
  const location = located.value
  switch (location.kind) {
    case "found": {
      const { held, forgottenBytes } = location
      return ok({ position: cursor.position, held, forgottenBytes, from })
    }
    case "nowhere":
      return notACursor(from, location.why)
    case "damaged":
      return notFoundInDamage(from, location)
  }
}

type Located = Exclude<Location, { kind: "far" }>

/** Mostly at once; a long walk through what nobody has read here takes turns with other reads. */
async function locate(
  transcripts: TranscriptReader,
  reads: ReadScheduler,
  followed: Followed,
  cursor: Cursor,
  caller: Caller,
): Answer<Located> {
  const look = () => transcripts.locate(followed.record.id, cursor, followed.transcript)
  const first = look()
  if (first.kind !== "far") return ok(first)
  return reads.run(caller, async () => {
    for (;;) {
      const location = look()
      if (location.kind !== "far") return ok(location)
      await setImmediate()
    }
  })
}

function startAt(position: Position): FeedStart {
  const at = { inside: 0, ...position }
  const from = encodeCursor({ position: at, held: noHeld })
  return { position: at, held: [], forgottenBytes: 0, from }
}

function notACursor(from: string, why: string): Result<never, Failure> {
  const message =
    `${JSON.stringify(from)} is not a cursor of this output: ${why}. ` +
    "Use `start`, `tail` or a `next`."
  return fail(failure("INVALID_PARAMS", message))
}

function notFoundInDamage(
  from: string,
  { sequence, why }: Extract<Location, { kind: "damaged" }>,
): Result<never, Failure> {
  const message =
    `${JSON.stringify(from)} cannot be found in this output, which is damaged at ${sequence}: ` +
    `${why}. Check with transcript.verify, or use \`start\` to read what comes before.`
  return fail(failure("INVALID_PARAMS", message, { sequence }))
}
