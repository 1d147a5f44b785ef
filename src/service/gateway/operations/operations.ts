import { ExecutionId, ExecutionIdPrefix } from "../../../execution/id.ts"
import {
  type ExecutionRecord,
  hasEnded,
  hasLabels,
  type Owned,
  startOfTranscript,
} from "../../../execution/record.ts"
import type { Scope } from "../../../execution/scope.ts"
import { checkClaim } from "../../../execution/verdict.ts"
import { ByteBudget } from "../../../lib/byte-budget.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { Origin } from "../../../protocol/audit-entry.ts"
import { viewOf } from "../../../protocol/execution-view.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { PolicyKind } from "../../../protocol/notifications.ts"
import { mostWaitingInputBytes, tooMuchInputWaits } from "../../../protocol/session-limits.ts"
import type { Caller } from "../../access/caller.ts"
import { isAdmin, maySee, maySteer, permit, scopeOf } from "../../access/permission.ts"
import type {
  Answer,
  JournalReader,
  Operations,
  OutputFeed,
  ReadPosition,
  TranscriptReader,
  Viewer,
} from "../ports.ts"
import type { OutputMetrics } from "../reports/gateway-metrics.ts"
import { decodeCursor } from "./cursor.ts"
import { Drivers } from "./drivers.ts"
import type { KeeperLink } from "./keeper-link.ts"
import { listPage } from "./list-page.ts"
import type { Followed, LiveExecutions } from "./live-executions.ts"
import { noHeld, TranscriptFeed, transcriptExpired } from "./output-feed.ts"
import { readChunks, readPage } from "./read-chunks.ts"
import { ReadScheduler } from "./read-scheduler.ts"

export type OperationPorts = {
  link: () => KeeperLink
  journal: () => JournalReader
  transcripts: () => TranscriptReader
  live: LiveExecutions
  policy: PolicyKind
  output: OutputMetrics
}

/**
 * What clients may ask, whatever way they come: the same answers for all of them, and the one place
 * where it is decided who may ask it.
 */
export function createOperations(ports: OperationPorts): Operations {
  const { link, journal, transcripts, live, output } = ports
  const drivers = new Drivers(link)
  const waitingInput = new ByteBudget(mostWaitingInputBytes)
  const reads = new ReadScheduler()

  const operations: Operations = {
    policy: ports.policy,

    async execute(caller, request, follow) {
      const permitted = permit(caller, scopeOf.execute)
      if (!permitted.ok) return permitted
      // Whoever may see and end everybody's executions is not bound by the limits of one.
      const params = { origin: originOf(caller), exempt: isAdmin(caller), request, follow }
      return link().call("start", params, ({ record, repeated }) => {
        if (follow && !repeated && !hasEnded(record)) live.adopt(record)
      })
    },

    async control(caller, executionId, { type, signal }) {
      const id = resolve(caller, executionId, scopeOf.control)
      if (!id.ok) return id
      const order = { origin: originOf(caller), executionId: id.value, type }
      return link().call("control", signal === undefined ? order : { ...order, signal })
    },

    async input(caller, executionId, { data, end, offset }) {
      const id = resolve(caller, executionId, scopeOf.input)
      if (!id.ok) return id
      using held = waitingInput.hold(data.length)
      if (held === null) return fail(tooMuchInputWaits)
      const origin = originOf(caller)
      const input = { origin, executionId: id.value, data: data.toBase64(), end }
      return await link().call("input", offset === undefined ? input : { ...input, offset })
    },

    async resize(caller, executionId, size) {
      const id = resolve(caller, executionId, scopeOf.resize)
      return id.ok ? link().call("resize", { executionId: id.value, size }) : id
    },

    async remove(caller, executionId) {
      const id = resolve(caller, executionId, scopeOf.remove)
      if (!id.ok) return id
      return link().call("remove", { origin: originOf(caller), executionId: id.value })
    },

    async list(caller, params) {
      const permitted = permit(caller, scopeOf.list)
      if (!permitted.ok) return permitted
      return reads.run(caller, async () => {
        const page = await listPage(journal(), params, viewerOf(caller))
        if (page === null) return fail(failure("INVALID_PARAMS", "`cursor` is not one of `list`."))
        const { records, cursor } = page
        const fresh = await freshest(records)
        const executions = fresh.map(viewOf)
        return ok(cursor === null ? { executions } : { executions, cursor })
      })
    },

    async status(caller, executionId) {
      const id = resolve(caller, executionId, scopeOf.status)
      if (!id.ok) return id
      const record = live.peek(id.value) ?? journal().find(id.value)
      if (record === null) return notFound(executionId)
      const [fresh = record] = await freshest([record])
      return ok(fresh)
    },

    async receipt(caller, executionId) {
      const id = resolve(caller, executionId, scopeOf.receipt)
      if (!id.ok) return id
      const receipt = journal().receipt(id.value)
      if (receipt !== null) return ok(receipt)
      const record = journal().find(id.value)
      if (record === null) return notFound(executionId)
      const { kind } = record.state
      const message = `Execution ${id.value} is ${kind}: it gets its receipt when it ends.`
      return fail(failure("WRONG_STATE", message, { state: kind }))
    },

    readTranscript: (caller, params) =>
      readAt(caller, params.execution_id, params.from, (feed) => readChunks(feed, params)),

    readOutput: (caller, request, keep) =>
      readAt(caller, request.executionId, request.from, (feed) => readPage(feed, request, keep)),

    async verify(caller, params) {
      const found = await operations.status(caller, params.execution_id)
      if (!found.ok) return found
      const { id, transcript, hashes } = found.value
      const hadOutput = transcript.end.offset > 0
      if (hadOutput && !journal().keepsTranscript(id)) return fail(transcriptExpired)
      const contains =
        params.contains === undefined ? undefined : new TextEncoder().encode(params.contains)
      return reads.run(caller, async () => {
        const verification = await transcripts().verify(id, transcript, { contains, hashes })
        return ok(checkClaim(verification, params, hashes))
      })
    },

    async open(caller, executionId, from, scope = scopeOf.attach) {
      const id = resolve(caller, executionId, scope)
      if (!id.ok) return id
      const open = () => openAt(id.value, from, caller)
      // What is not a cursor is looked for, through a whole segment.
      return /^(?:tail|tail-bytes|since):/.test(from) ? reads.run(caller, open) : open()
    },

    openStarted: (started, caller) => openAt(started.id, "start", caller),

    drive: (caller, feed, acknowledges) => drivers.drive(caller, feed, acknowledges),

    watch(caller, labels, changed) {
      const permitted = permit(caller, scopeOf.watch)
      if (!permitted.ok) return permitted
      const watching = live.watch((record) => {
        const isTheirs = maySee(caller, ownedOf(record)) && hasLabels(record, labels)
        if (isTheirs && caller.isStillGood()) changed(record)
      })
      return ok(watching)
    },
  }
  return operations

  /** The execution a caller means, if it may do with it what needs the scope. */
  function resolve(caller: Caller, given: string, scope: Scope): Result<ExecutionId, Failure> {
    const permitted = permit(caller, scope)
    if (!permitted.ok) return permitted
    const id = identify(caller, given)
    if (!id.ok || isAdmin(caller)) return id
    const owned = ownerOf(id.value)
    // What belongs to somebody else does not exist: an id that can be guessed tells nothing.
    if (owned === null || !maySee(caller, owned)) return notFound(given)
    if (scope !== "control" || maySteer(caller, owned)) return id
    const message = `Execution ${id.value} is shared with ${caller.principal} for reading only.`
    return fail(failure("FORBIDDEN", message))
  }

  function identify(caller: Caller, given: string): Result<ExecutionId, Failure> {
    if (ExecutionId.safeParse(given).success) return ok(given)
    if (!ExecutionIdPrefix.safeParse(given).success) return notFound(given)
    const [only, other] = journal().withPrefix(given, 2, viewerOf(caller))
    if (only === undefined) return notFound(given)
    if (other === undefined) return ok(only)
    const message = `Several executions begin with ${given}: use more characters of the id.`
    return fail(failure("PROCESS_NOT_FOUND", message))
  }

  function ownerOf(id: ExecutionId): Owned | null {
    const followed = live.peek(id)
    return followed === null ? journal().owned(id) : ownedOf(followed)
  }

  async function readAt<Page>(
    caller: Caller,
    executionId: string,
    from: string,
    read: (feed: OutputFeed) => Result<Page, Failure>,
  ): Answer<Page> {
    const opened = await operations.open(caller, executionId, from)
    if (!opened.ok) return opened
    using feed = opened.value
    return await reads.run(caller, async () => read(feed))
  }

  async function openAt(id: ExecutionId, from: string, caller: Caller): Answer<OutputFeed> {
    using _opening = live.opening(id)
    const followed = await live.follow(id)
    if (followed === null) return notFound(id)
    const start = startOf(followed, from)
    if (start !== null) {
      return ok(new TranscriptFeed(followed, start, transcripts(), live, caller, output))
    }
    const ways = "use `start`, `tail` or a `next`"
    const message =
      `${JSON.stringify(from)} is not a cursor of this output: ${ways}. ` +
      "If it is one, the transcript is damaged there: check with transcript.verify."
    return fail(failure("INVALID_PARAMS", message))
  }

  function startOf(followed: Followed, from: string) {
    const at = (position: ReadPosition) => ({ position, held: noHeld() })
    const { id } = followed.record
    const facts = followed.transcript
    if (from === "start") return at({ ...startOfTranscript, inside: 0 })
    if (from === "tail") return at({ ...facts.end, inside: 0 })
    const lines = /^tail:(\d{1,9})$/.exec(from)?.[1]
    if (lines !== undefined) return at(transcripts().tail(id, facts, { lines: Number(lines) }))
    const bytes = /^tail-bytes:(\d{1,15})$/.exec(from)?.[1]
    if (bytes !== undefined) return at(transcripts().tail(id, facts, { bytes: Number(bytes) }))
    const time = /^since:(.+)$/.exec(from)?.[1]
    if (time !== undefined && !Number.isNaN(Date.parse(time))) {
      return at(transcripts().since(id, facts, new Date(time)))
    }
    const cursor = decodeCursor(from)
    if (cursor === null || cursor.position.sequence > facts.end.sequence) return null
    // One of another execution lies past the end of this one, or in the middle of something.
    const isNowhere = transcripts().read(id, cursor.position, facts).kind === "damaged"
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

/** Of whatever a caller is known by: what the keeper notes. */
function originOf({ principal, address, via }: Caller): Origin {
  return { principal, address, via }
}

function notFound(given: string): Result<never, Failure> {
  return fail(failure("PROCESS_NOT_FOUND", `Unknown execution: ${JSON.stringify(given)}.`))
}

function ownedOf({ principal, spec }: ExecutionRecord): Owned {
  return { principal, labels: spec.labels }
}

/** Null for who may see everything. */
function viewerOf(caller: Caller): Viewer | null {
  if (isAdmin(caller)) return null
  return { principal: caller.principal, maySee: (owned) => maySee(caller, owned) }
}
