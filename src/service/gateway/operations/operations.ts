import type { ExecutionId } from "../../../execution/id.ts"
import { identify } from "../../../execution/identify.ts"
import { hasEnded, hasLabels, type Owned } from "../../../execution/record.ts"
import type { Scope } from "../../../execution/scope.ts"
import { checkClaim } from "../../../execution/verdict.ts"
import { ByteBudget } from "../../../lib/byte-budget.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { viewOf } from "../../../protocol/execution-view.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import { tooMuchInputWaits, waitingInputLimits } from "../../../protocol/session-limits.ts"
import type { Caller } from "../../access/caller.ts"
import {
  isAdmin,
  maySee,
  permit,
  permitRemoval,
  permitSteering,
  scopeOf,
} from "../../access/permission.ts"
import type { Answer, Operations, OutputFeed, Viewer } from "../ports.ts"
import { agentOperations } from "./agents.ts"
import { Drivers } from "./drivers.ts"
import { feedStart } from "./feed-start.ts"
import { freshest } from "./freshest.ts"
import { listPage } from "./list-page.ts"
import { noNodes } from "./no-nodes.ts"
import { notifyOperations, permitTargets } from "./notify.ts"
import type { OperationPorts } from "./operation-ports.ts"
import { TranscriptFeed, transcriptExpired } from "./output-feed.ts"
import { originOf, ownedOf } from "./owned.ts"
import { placeRefusal } from "./place-refusal.ts"
import { readChunks, readPage } from "./read-chunks.ts"
import { ReadScheduler } from "./read-scheduler.ts"
import { screenOperations } from "./screen-operations.ts"
import { searchTranscript } from "./search-transcript.ts"
import { peerOf, trialOperations } from "./trials.ts"
import { unfinishedWork } from "./unfinished-work.ts"

/**
 * What clients may ask, whatever way they come: the same answers for all of them, and the one place
 * where it is decided who may ask it.
 */
export function createOperations(ports: OperationPorts): Operations {
  const { link, journal, transcripts, live, output, screens } = ports
  const drivers = new Drivers(link)
  const waitingInput = new ByteBudget(waitingInputLimits)
  const reads = new ReadScheduler()

  const operations: Operations = {
    policy: ports.policy,
    trials: trialOperations({ link, journal }),
    nodes: noNodes,
    notify: notifyOperations({
      ...ports.notify,
      link,
      outbox: () => journal().outbox,
      resolve: (caller, id) => resolve(caller, id, scopeOf["notify.list"]),
    }),
    agents: agentOperations({
      link,
      permitTargets: (caller, named) => permitTargets(caller, named, ports.notify.settings),
      peerOf: (caller) => peerOf(caller, journal()),
      waitingInput,
      status: (caller, id) => operations.status(caller, id),
      cancel: (caller, id) => operations.control(caller, id, { type: "CANCEL" }),
      openRestarts: () => journal().openRestarts(),
      unfinishedWork: (record) => unfinishedWork(record, journal(), transcripts()),
      see: resolve,
      resolve: (caller, id, scope) => resolve(caller, id, scope, "steer"),
    }),

    async execute(caller, request, follow) {
      const permitted = permit(caller, scopeOf.execute)
      if (!permitted.ok) return permitted
      const misplaced = ports.isOfFleet ? null : placeRefusal(request)
      if (misplaced !== null) return fail(misplaced)
      const named = permitTargets(caller, request.notify, ports.notify.settings)
      if (!named.ok) return named
      // Whoever may see and end everybody's executions is not bound by the limits of one.
      const asked = peerOf(caller, journal())
      const peer = asked instanceof Promise ? await asked : asked // starts keep their order
      const params = { origin: originOf(caller), peer, exempt: isAdmin(caller), request, follow }
      const started = await link().call("start", params, ({ record, repeated }) => {
        if (follow && !repeated && !hasEnded(record)) live.adopt(record)
      })
      if (started.ok) screens.follow(started.value.record)
      return started
    },

    async control(caller, executionId, { type, signal }) {
      const id = resolve(caller, executionId, scopeOf.control)
      if (!id.ok) return id
      const order = { origin: originOf(caller), executionId: id.value, type }
      return link().call("control", signal === undefined ? order : { ...order, signal })
    },

    async input(caller, executionId, { data, end, writer, offset }) {
      const id = resolve(caller, executionId, scopeOf.input)
      if (!id.ok) return id
      const origin = originOf(caller)
      using held = waitingInput.hold(origin.principal, data.length)
      if (held === null) return fail(tooMuchInputWaits)
      const input = { origin, executionId: id.value, data: data.toBase64(), end }
      return await link().call("input", {
        ...input,
        ...(writer !== undefined && { writer }),
        ...(offset !== undefined && { offset }),
      })
    },

    async resize(caller, executionId, size) {
      const id = resolve(caller, executionId, scopeOf.resize)
      return id.ok ? link().call("resize", { executionId: id.value, size }) : id
    },

    ...screenOperations(ports, { resolve, keeps: (id) => journal().keepsTranscript(id) }),

    async remove(caller, executionId) {
      const id = resolve(caller, executionId, scopeOf.remove)
      if (!id.ok) return id
      const permitted = permitRemoval(caller, id.value, ownerOf(id.value))
      if (!permitted.ok) return permitted
      return link().call("remove", { origin: originOf(caller), executionId: id.value })
    },

    async list(caller, params) {
      const permitted = permit(caller, scopeOf.list)
      if (!permitted.ok) return permitted
      return reads.run(caller, async () => {
        const page = await listPage(journal(), params, viewerOf(caller))
        if (page === null) return fail(failure("INVALID_PARAMS", "`cursor` is not one of `list`."))
        const { records, cursor } = page
        const fresh = await freshest(records, link(), journal())
        if (!fresh.ok) return fresh
        const executions = fresh.value.map(viewOf)
        return ok(cursor === null ? { executions } : { executions, cursor })
      })
    },

    async status(caller, executionId) {
      const id = resolve(caller, executionId, scopeOf.status)
      if (!id.ok) return id
      const record = live.peek(id.value) ?? journal().find(id.value)
      if (record === null) return notFound(executionId)
      const fresh = await freshest([record], link(), journal())
      return fresh.ok ? ok(fresh.value[0] ?? record) : fresh
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

    search: (caller, params) =>
      readAt(caller, params.execution_id, params.from, (feed) => searchTranscript(feed, params)),

    async verify(caller, params) {
      const found = await operations.status(caller, params.execution_id)
      if (!found.ok) return found
      const { id, transcript, hashes, spec, ranAs } = found.value
      const { executed, contains: text } = params
      if (executed !== undefined && spec.agent === undefined) return fail(noSession)
      if (transcript.end.offset > 0 && !journal().keepsTranscript(id))
        return fail(transcriptExpired)
      const contains = text === undefined ? undefined : new TextEncoder().encode(text)
      return reads.run(caller, async () => {
        const sought = { contains, executed, hashes }
        const verification = await transcripts().verify(id, transcript, sought)
        const hasOwnUser = ranAs !== undefined && ranAs.uid !== process.getuid?.()
        return ok(checkClaim(verification, params, hashes, hasOwnUser))
      })
    },

    async open(caller, executionId, from, scope = scopeOf.attach, sizes) {
      const id = resolve(caller, executionId, scope)
      if (!id.ok) return id
      const open = () => openAt(id.value, from, caller, sizes)
      // What is not a cursor is looked for, through a whole segment.
      return /^(?:tail|tail-bytes|line|at|since):/.test(from) ? reads.run(caller, open) : open()
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
  function resolve(
    caller: Caller,
    given: string,
    scope: Scope,
    means: "see" | "steer" = scope === "control" ? "steer" : "see",
  ): Result<ExecutionId, Failure> {
    const permitted = permit(caller, scope)
    if (!permitted.ok) return permitted
    const id = idOf(caller, given)
    if (!id.ok || isAdmin(caller)) return id
    const owned = ownerOf(id.value)
    // What belongs to somebody else does not exist: an id that can be guessed tells nothing.
    if (owned === null || !maySee(caller, owned)) return notFound(given)
    const steering = means === "steer" ? permitSteering(caller, id.value, owned) : ok(null)
    return steering.ok ? id : steering
  }

  function idOf(caller: Caller, given: string): Result<ExecutionId, Failure> {
    const { principal } = caller
    const viewer = viewerOf(caller)
    const identified = identify(given, principal, {
      withName: (name) => journal().withName(name, principal, viewer),
      withPrefix: (prefix, limit) => journal().withPrefix(prefix, limit, viewer),
    })
    switch (identified.kind) {
      case "found":
        return ok(identified.id)
      case "unknown":
        return notFound(given)
      case "ambiguous": {
        const { candidates, message } = identified
        return fail(failure("PROCESS_NOT_FOUND", message, { candidates }))
      }
    }
  }

  function ownerOf(id: ExecutionId): Owned | null {
    const followed = live.peek(id)
    return followed === null ? journal().owned(id) : ownedOf(followed)
  }

  async function readAt<Page>(
    caller: Caller,
    executionId: string,
    from: string,
    read: (feed: OutputFeed) => Result<Page, Failure> | Promise<Result<Page, Failure>>,
  ): Answer<Page> {
    const opened = await operations.open(caller, executionId, from)
    if (!opened.ok) return opened
    using feed = opened.value
    return await reads.run(caller, async () => read(feed))
  }

  async function openAt(
    id: ExecutionId,
    from: string,
    caller: Caller,
    sizes?: "with-sizes",
  ): Answer<OutputFeed> {
    using _opening = live.opening(id)
    const found = await live.follow(id)
    if (!found.ok) return found
    const followed = found.value
    if (followed === null) return notFound(id)
    const start = await feedStart(transcripts(), reads, followed, from, caller)
    if (!start.ok) return start
    const seen = followed.record.spec.terminal === null ? undefined : sizes
    return ok(new TranscriptFeed(followed, start.value, transcripts(), live, caller, output, seen))
  }
}

const noSession = failure(
  "INVALID_PARAMS",
  "It is a command, not an agent's session: `executed` is about sessions. Use `contains`.",
)

function notFound(given: string): Result<never, Failure> {
  return fail(failure("PROCESS_NOT_FOUND", `Unknown execution: ${JSON.stringify(given)}.`))
}

/** Null for who may see everything. */
function viewerOf(caller: Caller): Viewer | null {
  if (isAdmin(caller)) return null
  return { principal: caller.principal, maySee: (owned) => maySee(caller, owned) }
}
