import { AgentStatus } from "../../../execution/agent.ts"
import type { ExecutionRecord } from "../../../execution/record.ts"
import { countText } from "../../../lib/count-text.ts"
import { parseJson } from "../../../lib/parse-json.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { SessionEvent } from "../../../protocol/agent-event.ts"
import { mostCarriedCharacters, UnfinishedWork } from "../../../protocol/agent-restart.ts"
import type { JournalReader, TranscriptReader } from "../ports.ts"
import { eachLogLine } from "./log-lines.ts"

/** Executions that were to go on with one another, and had not come to it. */
const mostSteps = 100

/** To the agent, in place of a turn whose own words are no longer kept. */
const continueText = "Continue from where you left off."

/**
 * What a session had accepted and not ended when the service died, from its log; the failure says
 * why that cannot be told. One that had not begun to go on with another has left it all there.
 */
export async function unfinishedWork(
  record: ExecutionRecord,
  journal: Pick<JournalReader, "find">,
  transcripts: Pick<TranscriptReader, "read">,
): Promise<Result<UnfinishedWork, string>> {
  let looked: ExecutionRecord | null = record
  for (let step = 0; looked !== null && step < mostSteps; step += 1) {
    const log = new WorkLog(looked)
    const read = await eachLogLine(looked, transcripts, (event, line) => log.take(event, line))
    if (!read.ok) return read
    if (log.hasBegun) return log.work()
    const before = looked.spec.agent?.restartOf
    if (before === undefined) return fail("Nothing of it had been recorded yet: start it again.")
    looked = journal.find(before)
  }
  return fail("The execution that it was to go on with has been removed.")
}

type Turn = Extract<SessionEvent, { event: "turn" }>

/** What a log says that was to be done, and was not. */
class WorkLog {
  readonly #record: ExecutionRecord
  readonly #isDropped: boolean
  #turns: Turn[] = []
  readonly #ended = new Set<string>()
  #status = ""
  /** Whether all that it was to do is on record. */
  hasBegun: boolean

  constructor(record: ExecutionRecord) {
    this.#record = record
    this.#isDropped = record.transcript.start.sequence > 0
    this.hasBegun = this.#isDropped
  }

  take(event: string, line: Buffer): void {
    // What goes on with another execution tells so after the turns that it has from there.
    this.hasBegun ||= event === "resumed" || this.#record.spec.agent?.restartOf === undefined
    if (event === "status") this.#status = line.toString("utf8")
    if (event !== "turn" && event !== "turn-ended") return
    const said = SessionEvent.safeParse(valueOf(line.toString("utf8"))).data
    if (said?.event === "turn") this.#accept(said)
    if (said?.event === "turn-ended") this.#end(said.turn_id)
  }

  work(): Result<UnfinishedWork, string> {
    const { agent, principal, redacted } = this.#record
    const status = AgentStatus.safeParse(valueOf(this.#status)).data ?? agent ?? null
    const current = status?.turns.current ?? null
    const isKnown = this.#turns.some(({ turn_id }) => turn_id === current)
    const isCutOff = this.#isDropped && current !== null && !isKnown && !this.#ended.has(current)
    const turns = [
      ...(isCutOff ? [{ turnId: current, content: continueText, by: principal }] : []),
      ...this.#turns.map(({ turn_id: turnId, by, text, content }) => {
        return { turnId, by, content: text ?? content ?? "" }
      }),
    ]
    const { accepted = 0, ended = 0 } = status?.turns ?? {}
    const gone = this.#isDropped ? Math.max(0, accepted - ended - turns.length) : 0
    const isRedacted = (redacted?.stdout ?? 0) > 0 && turns.length > 0
    const problems = [
      ...(gone > 0 ? [`${countText(gone, "turn")} that waited can no longer be read.`] : []),
      ...(isRedacted ? ["What was redacted in the record is missing in turns given again."] : []),
    ]
    const problem = problems.length === 0 ? null : problems.join(" ")
    const work = UnfinishedWork.safeParse({ turns, status, problem })
    if (!work.success) return fail("Its log has turns that cannot be read.")
    if (JSON.stringify(turns).length <= mostCarriedCharacters) return ok(work.data)
    return fail("The turns that wait are too large to be carried over.")
  }

  /** As the session's host does it: `now` goes before those that wait. */
  #accept(turn: Turn): void {
    if (turn.when === "now") this.#turns.splice(1, 0, turn)
    else this.#turns.push(turn)
  }

  #end(turnId: string | null): void {
    this.#turns = this.#turns.filter(({ turn_id }) => turn_id !== turnId)
    if (turnId !== null) this.#ended.add(turnId)
  }
}

function valueOf(text: string): unknown {
  const read = parseJson(text)
  return read.ok ? read.value : undefined
}
