import { ByteBudget } from "../execution/byte-budget.ts"
import { ExecutionId, ExecutionIdPrefix } from "../execution/id.ts"
import { type ExecutionRecord, hasEnded, startOfTranscript } from "../execution/record.ts"
import { fail, ok, type Result } from "../execution/result.ts"
import { judge } from "../execution/verdict.ts"
import { viewOf } from "../protocol/execution-view.ts"
import { type Failure, failure } from "../protocol/failure.ts"
import { mostWaitingInputBytes, tooMuchInputWaits } from "../protocol/waiting-input.ts"
import { decodeCursor } from "./cursor.ts"
import { Drivers } from "./drivers.ts"
import type { KeeperLink } from "./keeper-link.ts"
import { listPage } from "./list-page.ts"
import type { Followed, LiveExecutions } from "./live-executions.ts"
import { noHeld, TranscriptFeed, transcriptExpired } from "./output-feed.ts"
import type { JournalReader, Operations, Place, TranscriptReader } from "./ports.ts"
import { readChunks } from "./read-chunks.ts"

export type OperationPorts = {
  link: () => KeeperLink
  journal: () => JournalReader
  transcripts: () => TranscriptReader
  live: LiveExecutions
}

/** What clients may ask, whatever way they come: the same answers for all of them. */
export function createOperations(ports: OperationPorts): Operations {
  const { link, journal, transcripts, live } = ports
  const drivers = new Drivers(link)
  const waitingInput = new ByteBudget(mostWaitingInputBytes)

  const operations: Operations = {
    async execute(caller, request, follow) {
      const params = { principal: caller.principal, request, follow }
      return link().call("start", params, ({ record, repeated }) => {
        if (follow && !repeated && !hasEnded(record)) live.adopt(record)
      })
    },

    async control(_caller, executionId, { type, signal }) {
      const id = resolve(executionId)
      if (!id.ok) return id
      const order = { executionId: id.value, type }
      return link().call("control", signal === undefined ? order : { ...order, signal })
    },

    async input(_caller, executionId, { data, end, offset }) {
      const id = resolve(executionId)
      if (!id.ok) return id
      using held = waitingInput.hold(data.length)
      if (held === null) return fail(tooMuchInputWaits)
      const input = { executionId: id.value, data: data.toBase64(), end }
      return await link().call("input", offset === undefined ? input : { ...input, offset })
    },

    async resize(_caller, executionId, size) {
      const id = resolve(executionId)
      return id.ok ? link().call("resize", { executionId: id.value, size }) : id
    },

    async remove(_caller, executionId) {
      const id = resolve(executionId)
      return id.ok ? link().call("remove", { executionId: id.value }) : id
    },

    async list(_caller, params) {
      const page = listPage(journal(), params)
      if (page === null) return fail(failure("INVALID_PARAMS", "`cursor` is not one of `list`."))
      const { records, cursor } = page
      const fresh = await freshest(records)
      const executions = fresh.map(viewOf)
      return ok(cursor === null ? { executions } : { executions, cursor })
    },

    async status(_caller, executionId) {
      const id = resolve(executionId)
      if (!id.ok) return id
      const record = live.peek(id.value) ?? journal().find(id.value)
      if (record === null) return notFound(executionId)
      const [fresh = record] = await freshest([record])
      return ok(fresh)
    },

    async receipt(_caller, executionId) {
      const id = resolve(executionId)
      if (!id.ok) return id
      const receipt = journal().receipt(id.value)
      if (receipt !== null) return ok(receipt)
      const record = journal().find(id.value)
      if (record === null) return notFound(executionId)
      const { kind } = record.state
      const message = `Execution ${id.value} is ${kind}: the receipt comes with its end.`
      return fail(failure("WRONG_STATE", message, { state: kind }))
    },

    async readTranscript(caller, params) {
      const opened = await operations.open(caller, params.execution_id, params.from)
      if (!opened.ok) return opened
      using feed = opened.value
      return readChunks(feed, params)
    },

    async verify(caller, params) {
      const found = await operations.status(caller, params.execution_id)
      if (!found.ok) return found
      const { id, transcript, hashes } = found.value
      const hadOutput = transcript.end.offset > 0
      if (hadOutput && !journal().keepsTranscript(id)) return fail(transcriptExpired)
      const contains =
        params.contains === undefined ? undefined : new TextEncoder().encode(params.contains)
      const verification = await transcripts().verify(id, transcript, { contains, hashes })
      return ok(judge(verification, params, hashes))
    },

    async open(_caller, executionId, from) {
      const id = resolve(executionId)
      if (!id.ok) return id
      using _opening = live.opening(id.value)
      const followed = await live.follow(id.value)
      if (followed === null) return notFound(executionId)
      const start = startOf(followed, from)
      if (start === null) {
        const ways = "use `start`, `tail` or a `next`"
        const message =
          `${JSON.stringify(from)} is not a cursor of this output: ${ways}. ` +
          "If it is one, the transcript is damaged there: see transcript.verify."
        return fail(failure("INVALID_PARAMS", message))
      }
      return ok(new TranscriptFeed(followed, start, transcripts(), live))
    },

    drive: (caller, feed, acknowledges) => drivers.drive(caller, feed, acknowledges),

    watch: (_caller, labels, changed) =>
      live.watch((record) => {
        if (hasLabels(record, labels)) changed(record)
      }),
  }
  return operations

  function resolve(given: string): Result<ExecutionId, Failure> {
    if (ExecutionId.safeParse(given).success) return ok(given)
    if (!ExecutionIdPrefix.safeParse(given).success) return notFound(given)
    const [only, other] = journal().withPrefix(given, 2)
    if (only === undefined) return notFound(given)
    if (other === undefined) return ok(only)
    const message = `Several executions begin with ${given}: give more of the id.`
    return fail(failure("PROCESS_NOT_FOUND", message))
  }

  function startOf(followed: Followed, from: string) {
    const at = (place: Place) => ({ place, held: noHeld() })
    const { id } = followed.record
    const facts = followed.transcript
    if (from === "start") return at({ ...startOfTranscript, inside: 0 })
    if (from === "tail") return at({ ...facts.end, inside: 0 })
    const lines = /^tail:(\d{1,9})$/.exec(from)?.[1]
    if (lines !== undefined) return at(transcripts().tail(id, facts, { lines: Number(lines) }))
    const time = /^since:(.+)$/.exec(from)?.[1]
    if (time !== undefined && !Number.isNaN(Date.parse(time))) {
      return at(transcripts().since(id, facts, new Date(time)))
    }
    const cursor = decodeCursor(from)
    if (cursor === null || cursor.place.sequence > facts.end.sequence) return null
    // One of another execution lies past the end of this one, or in the middle of something.
    const isNowhere = transcripts().read(id, cursor.place, facts).kind === "damaged"
    return isNowhere ? null : cursor
  }

  /** The journal knows states; how far a live one has come only the keeper knows. */
  async function freshest(records: ExecutionRecord[]): Promise<ExecutionRecord[]> {
    const unfinished = records.filter((record) => !hasEnded(record))
    const [only, second] = unfinished
    if (only === undefined) return records
    const answer =
      second === undefined
        ? await link().call("find", { executionId: only.id })
        : await link().call("live", {})
    if (!answer.ok) return records
    const { value } = answer
    const found = "records" in value ? value.records : value.record === null ? [] : [value.record]
    const byId = new Map(found.map((record) => [record.id, record]))
    // One that is not live any more has ended since: the journal knows by now.
    return records.map((record) => {
      if (hasEnded(record)) return record
      return byId.get(record.id) ?? journal().find(record.id) ?? record
    })
  }
}

function notFound(given: string): Result<never, Failure> {
  return fail(failure("PROCESS_NOT_FOUND", `There is no execution ${JSON.stringify(given)}.`))
}

function hasLabels(record: ExecutionRecord, labels: Record<string, string> | undefined): boolean {
  const wanted = Object.entries(labels ?? {})
  return wanted.every(([name, value]) => record.spec.labels[name] === value)
}
