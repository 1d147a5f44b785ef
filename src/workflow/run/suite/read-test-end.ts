import type { StreamName } from "../../../execution/record.ts"
import { duration } from "../../../lib/report/figures.ts"
import { type Completed, completedOf } from "../../../protocol/notifications.ts"
import { OutputSearch } from "../../suite/output-search.ts"
import type { SuitePattern, SuiteTest } from "../../suite/suite.ts"
import type { TestEnd } from "../../suite/test-result.ts"
import { endText } from "../trial/step-run.ts"
import type { World } from "../world.ts"
import { SessionWords } from "./session-words.ts"

/** How a test ended, and what it wrote: from its record, whole. */
export async function readTestEnd(
  { client }: World,
  test: SuiteTest,
  executionId: string,
): Promise<TestEnd> {
  const view = await client.call("status", { execution_id: executionId })
  const ended = completedOf(view)
  const isSession = view.agent !== undefined && view.agent !== null
  const read = await readOutput(client, test, executionId, isSession)
  return {
    executionId,
    end: endKind(ended),
    isTimeout: ended?.cause === "wall-timeout" || ended?.cause === "idle-timeout",
    isCanceled: ended?.cause === "client" || ended?.cause === "disconnected",
    durationMs: (ended?.execution_time ?? 0) * 1000,
    digest: ended?.hashes?.chain ?? null,
    droppedBytes: ended?.dropped.bytes ?? 0,
    ...read,
  }
}

function endKind(ended: Completed | null): TestEnd["end"] {
  if (ended === null) return { kind: "other", how: "its end is not known" }
  if (ended.outcome === "exited" && ended.exit_code !== null) {
    return { kind: "exited", exitCode: ended.exit_code }
  }
  const after = duration(ended.execution_time * 1000)
  if (ended.cause === "wall-timeout") {
    return { kind: "other", how: `its time was over: it was stopped after ${after}` }
  }
  if (ended.cause === "idle-timeout") {
    return { kind: "other", how: `it wrote nothing for too long: it was stopped after ${after}` }
  }
  return { kind: "other", how: `it was ${endText(ended)}` }
}

const pieceBytes = 4 * 1024 * 1024

async function readOutput(
  client: World["client"],
  test: SuiteTest,
  execution_id: string,
  isSession: boolean,
): Promise<Pick<TestEnd, "missing" | "tail" | "turn">> {
  const patterns = test.patterns.filter(({ kind }) => !isSession || kind !== "executed")
  const search = new OutputSearch(patterns, test.act.kind === "request" ? test.act.request : null)
  const words = new SessionWords()
  const tail = new Tail()
  const take = (stream: StreamName, data: string) => {
    const texts = isSession && stream === "stdout" ? words.add(data).map(asLine) : [data]
    for (const text of texts) {
      search.push(stream, text)
      tail.push(text)
    }
  }
  for (let from = "start"; ; ) {
    const asked = { execution_id, from, limit_bytes: pieceBytes }
    const { chunks, next, more, gap } = await client.call("transcript.read", asked)
    if (gap !== undefined) {
      words.cut()
      search.cut()
    }
    for (const { type, data } of chunks) take(type, data)
    if (more !== true) break
    from = next
  }
  const { lastTurn } = words
  const isWrong = isSession && lastTurn !== "success"
  return {
    missing: new Set([
      ...search.end(),
      ...(isSession ? await notExecuted(client, test, execution_id) : []),
    ]),
    tail: tail.text,
    turn: isWrong ? `the outcome of the session's last turn is ${lastTurn ?? "not known"}` : null,
  }
}

/** Only the record of the whole session says who has written a text. */
async function notExecuted(
  client: World["client"],
  { patterns }: SuiteTest,
  execution_id: string,
): Promise<SuitePattern[]> {
  const missing: SuitePattern[] = []
  for (const pattern of patterns) {
    if (pattern.kind !== "executed") continue
    const asked = { execution_id, executed: pattern.text }
    const { executed } = await client.call("transcript.verify", asked)
    if (executed?.found !== "executed") missing.push(pattern)
  }
  return missing
}

/** What one message says is never part of the line of another. */
function asLine(text: string): string {
  return `${text}\n`
}

const mostTailLines = 20
const mostTailCharacters = 4000

/** The last lines of what was written. */
class Tail {
  #text = ""

  push(piece: string): void {
    this.#text = (this.#text + piece).slice(-mostTailCharacters)
  }

  get text(): string {
    return this.#text.trimEnd().split("\n").slice(-mostTailLines).join("\n")
  }
}
