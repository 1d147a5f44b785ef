import type { ExecutionId } from "../../../execution/id.ts"
import { type ExecutionRecord, hasLabels } from "../../../execution/record.ts"
import type { Scope } from "../../../execution/scope.ts"
import { isSessionId } from "../../../execution/session-id.ts"
import type { StateKind } from "../../../execution/state.ts"
import type { ByteBudget } from "../../../lib/byte-budget.ts"
import { delay } from "../../../lib/delay.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { AgentStartParams, InterruptedSession, OpenQuestion } from "../../../protocol/agent.ts"
import type { ClientOrder } from "../../../protocol/agent-orders.ts"
import type { UnfinishedWork } from "../../../protocol/agent-restart.ts"
import { executeResultOf } from "../../../protocol/execute.ts"
import { type Failure, failure, withDetails } from "../../../protocol/failure.ts"
import type { PeerProcess } from "../../../protocol/ipc.ts"
import type { ResultOf } from "../../../protocol/methods.ts"
import { restartLinksOf } from "../../../protocol/restart-links.ts"
import { tooMuchInputWaits } from "../../../protocol/session-limits.ts"
import type { Caller } from "../../access/caller.ts"
import { isAdmin, mayAnswer, permit, scopeOf } from "../../access/permission.ts"
import type { AgentOperations } from "../agent-operations.ts"
import type { Answer, Operations } from "../ports.ts"
import { worktreeOperations } from "./ask-worktree.ts"
import { carriedRequest, sessionRequest } from "./carried-start.ts"
import type { KeeperLink } from "./keeper-link.ts"
import { originOf, ownedOf } from "./owned.ts"

/** How long whoever has a session may take to leave it, before it is canceled. */
const leaveMs = 10_000
const lookMs = 50
const tellMs = 5_000

export type AgentPorts = {
  link: () => KeeperLink
  peerOf: (caller: Caller) => PeerProcess | Promise<PeerProcess>
  waitingInput: ByteBudget
  status: Operations["status"]
  cancel: (caller: Caller, id: string) => Answer<unknown>
  /** Sessions that ended with the service and have not gone on. */
  openRestarts: () => readonly ExecutionRecord[]
  /** What a session had not finished then; a failure says why that cannot be told. */
  unfinishedWork: (record: ExecutionRecord) => Promise<Result<UnfinishedWork, string>>
  /** The execution that a caller means, if it may do with it what needs the scope. */
  see: (caller: Caller, id: string, scope: Scope) => Result<ExecutionId, Failure>
  /** The execution that a caller means, if it may steer it and has the scope. */
  resolve: (caller: Caller, id: string, scope: Scope) => Result<ExecutionId, Failure>
  permitTargets: (caller: Caller, named: readonly string[] | undefined) => Result<null, Failure>
}

/** What clients may ask about agents' sessions. */
export function agentOperations(ports: AgentPorts): AgentOperations {
  const { link, status } = ports
  const order = (caller: Caller, id: string, wanted: ClientOrder) =>
    giveOrder(caller, id, wanted, ports)
  return {
    start: (caller, params) => startAgent(caller, params, ports),

    async send(caller, { execution_id, text, content = [], turn_id, when }) {
      const turnId = turn_id ?? crypto.randomUUID()
      const turn = { order: "send", turnId, content: text ?? content, when } as const
      const sent = await order(caller, execution_id, turn)
      if (sent.ok) return ok({ turn_id: turnId })
      return fail(withDetails(sent.failure, { turn_id: turnId }))
    },

    answer: (caller, { execution_id, question_id, behavior, remember, ...rest }) =>
      order(caller, execution_id, {
        order: "answer",
        questionId: question_id,
        behavior,
        remember,
        updatedInput: rest.updated_input ?? null,
        message: rest.message ?? null,
      }),

    interrupt: (caller, { execution_id }) => order(caller, execution_id, { order: "interrupt" }),

    end: (caller, { execution_id }) => order(caller, execution_id, { order: "end", now: false }),

    configure: (caller, { execution_id, model = null, permission_mode = null }) =>
      order(caller, execution_id, { order: "configure", model, permissionMode: permission_mode }),

    async status(caller, { execution_id }) {
      const found = await onceTold(() => status(caller, execution_id))
      if (!found.ok) return found
      const { id, agent, state, spec } = found.value
      const worktree = spec.agent?.worktree
      const links = { ...(worktree && { worktree }), ...restartLinksOf(found.value) }
      if (agent) return ok({ execution_id: id, ...agent, ...links })
      const refused = noAgentStatus(spec.agent !== undefined, state.kind)
      return fail(withDetails(refused, links))
    },

    ...worktreeOperations({ link, resolve: ports.see }),

    async inbox(caller, { labels }) {
      const permitted = permit(caller, scopeOf["agent.inbox"])
      if (!permitted.ok) return permitted
      const live = await link().call("live", {})
      if (!live.ok) return live
      const isTheirs = (record: ExecutionRecord) =>
        mayAnswer(caller, ownedOf(record)) && hasLabels(record, labels)
      const questions = live.value.records.filter(isTheirs).flatMap(questionsOf)
      const interrupted = ports.openRestarts().filter(isTheirs).flatMap(interruptedSessions)
      return ok({ questions, interrupted })
    },
  }
}

/** The host of a session that was just started tells of it a moment later. */
async function onceTold(
  look: () => Promise<Result<ExecutionRecord, Failure>>,
): Promise<Result<ExecutionRecord, Failure>> {
  for (let waitedMs = 0; ; waitedMs += lookMs) {
    const found = await look()
    const isSilent = found.ok && found.value.spec.agent !== undefined && !found.value.agent
    const mayTell = isSilent && /^(?:starting|running)$/.test(found.value.state.kind)
    if (!mayTell || waitedMs >= tellMs) return found
    await delay(lookMs)
  }
}

async function giveOrder(
  caller: Caller,
  executionId: string,
  order: ClientOrder,
  { link, waitingInput, resolve }: AgentPorts,
): Answer<Record<string, never>> {
  const id = resolve(caller, executionId, scopeOf[`agent.${order.order}`])
  if (!id.ok) return id
  const origin = originOf(caller)
  using held = waitingInput.hold(origin.principal, JSON.stringify(order).length)
  if (held === null) return fail(tooMuchInputWaits)
  return await link().call("order", { origin, executionId: id.value, order })
}

/** Starts a session; with `take_over`, once the one that has it has left. */
async function startAgent(
  caller: Caller,
  params: AgentStartParams,
  ports: AgentPorts,
): Answer<ResultOf<"agent.start">> {
  const needed = params.take_over ? (["execute", "control"] as const) : (["execute"] as const)
  const permitted = permit(caller, ...needed)
  if (!permitted.ok) return permitted
  const named = ports.permitTargets(caller, params.notify)
  if (!named.ok) return named
  const resumed = await sessionToResume(caller, params, ports)
  if (!resumed.ok) return resumed
  const { session, ran } = resumed.value
  // The agent finds its session by the directory that it ran in.
  const cwd = params.cwd ?? ran?.spec.cwd
  const where = cwd === undefined ? {} : { cwd }
  const asked = { ...params, ...where, ...(session === null ? {} : { resume: session }) }
  // Whoever may only see it goes on with the session, but not in the place of its execution.
  const goesOn = ran?.restart !== undefined && !params.fork && mayAnswer(caller, ownedOf(ran))
  const before = { ran, goesOnWith: goesOn ? ran : null }
  const started = await start(caller, asked, ports, before)
  const holder = params.take_over ? holderIn(started) : null
  if (holder === null) return started
  const left = await leave(caller, holder, ports)
  if (!left.ok) return left
  // It is on record as ended a moment before the keeper lets go of it.
  for (let waitedMs = 0; ; waitedMs += lookMs) {
    const again = await start(caller, asked, ports, before)
    if (holderIn(again) !== holder || waitedMs >= leaveMs) return again
    await delay(lookMs)
  }
}

/** The execution because of which a start was refused; null where it was not. */
function holderIn(started: Result<unknown, Failure>): string | null {
  if (started.ok || started.failure.reason !== "SESSION_BUSY") return null
  const holder = started.failure.details?.["execution_id"]
  return typeof holder === "string" ? holder : null
}

/** `resume` may name an execution that ran the session. */
async function sessionToResume(
  caller: Caller,
  { resume }: AgentStartParams,
  { status }: AgentPorts,
): Promise<Result<{ session: string | null; ran: ExecutionRecord | null }, Failure>> {
  if (resume === undefined || /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(resume)) {
    return ok({ session: resume ?? null, ran: null })
  }
  const found = await status(caller, resume)
  if (!found.ok) return found
  const { agent, spec } = found.value
  const told = agent?.session_id ?? ""
  const session = isSessionId(told) ? told : spec.agent?.sessionId
  if (session !== undefined) return ok({ session, ran: found.value })
  return fail(failure("INVALID_PARAMS", `Execution ${found.value.id} has no agent's session.`))
}

async function start(
  caller: Caller,
  params: AgentStartParams,
  { link, peerOf, unfinishedWork, permitTargets }: AgentPorts,
  { ran, goesOnWith }: { ran: ExecutionRecord | null; goesOnWith: ExecutionRecord | null },
): Answer<ResultOf<"agent.start">> {
  const { env } = params
  const carried = goesOnWith && { old: goesOnWith, work: await workOf(goesOnWith, unfinishedWork) }
  const wanted = carried === null ? sessionRequest(params) : carriedRequest(params, carried)
  // Whom it named before, somebody else who goes on with it may not be allowed to.
  const isNamed = (name: string) => permitTargets(caller, [name]).ok
  const { notify, ...request } = wanted.request
  const asked = {
    origin: originOf(caller),
    peer: await peerOf(caller),
    exempt: isAdmin(caller),
    follow: false,
    agent: wanted.agent,
    request: notify === undefined ? request : { ...request, notify: notify.filter(isNamed) },
    ...(carried && { goesOnWith: { executionId: carried.old.id, work: carried.work } }),
    ...(ran !== null && params.cwd === ran.spec.cwd ? { worktreeOf: ran.id } : {}),
  }
  const started = await link().call("start", asked)
  if (!started.ok) return started
  const { record, repeated, note } = started.value
  const result = executeResultOf(record, repeated)
  if (!result.ok) return result
  const session_id = record.agent?.session_id ?? record.spec.agent?.sessionId ?? ""
  const turn_id = params.turn_id ?? record.id
  const worktree = record.spec.agent?.worktree
  const isGivenValues = env !== undefined && Object.keys(env).length > 0
  const notes = [...(note === undefined ? [] : [note]), ...(isGivenValues ? [cannotRestart] : [])]
  return ok({
    execution_id: record.id,
    session_id,
    ...(params.prompt === undefined ? {} : { turn_id }),
    ...(repeated ? { repeated } : {}),
    ...(notes.length === 0 ? {} : { note: notes.join("\n") }),
    ...(worktree && { worktree }),
  })
}

const cannotRestart =
  "The values of `env` are not stored: after a crash of the service this session cannot be gone " +
  "on with by itself. Put them into an `env_file` if it should."

/** Ends whoever has a session, politely at first. */
async function leave(
  caller: Caller,
  holder: string,
  ports: AgentPorts,
): Promise<Result<null, Failure>> {
  const asked = await giveOrder(caller, holder, { order: "end", now: true }, ports)
  if (!asked.ok && asked.failure.reason !== "WRONG_STATE") return asked
  const hasLeft = async () => {
    const found = await ports.status(caller, holder)
    return !found.ok || found.value.state.kind === "ended"
  }
  for (let waitedMs = 0; waitedMs < leaveMs; waitedMs += lookMs) {
    if (await hasLeft()) return ok(null)
    await delay(lookMs)
  }
  const canceled = await ports.cancel(caller, holder)
  if (canceled.ok || canceled.failure.reason === "WRONG_STATE") return ok(null)
  return canceled
}

/** Somebody who wants to go on does so, whatever is missing: the session says what. */
async function workOf(
  record: ExecutionRecord,
  read: AgentPorts["unfinishedWork"],
): Promise<UnfinishedWork> {
  const work = await read(record)
  return work.ok ? work.value : { turns: [], status: null, problem: work.failure }
}

function interruptedSessions(record: ExecutionRecord): InterruptedSession[] {
  const { id, spec, agent, restart, endedAt, createdAt } = record
  if (restart?.kind !== "interrupted") return []
  const { why, missing } = restart
  const session_id = agent?.session_id ?? spec.agent?.sessionId ?? ""
  const variables = missing.map((name) => ` -e ${shellWord(name)}=…`)
  const command = `cc-executor claude -d --resume ${id}${variables.join("")}`
  return [{ execution_id: id, session_id, since: endedAt ?? createdAt, why, missing, command }]
}

/** So that a shell takes it as it is, whoever has chosen it. */
function shellWord(name: string): string {
  return /^\w+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`
}

function questionsOf({ id, agent }: ExecutionRecord): OpenQuestion[] {
  return (agent?.questions ?? []).map((question) => ({ execution_id: id, ...question }))
}

function noAgentStatus(isAgent: boolean, state: StateKind): Failure {
  const message = isAgent
    ? "The agent's host has not told anything yet: ask again in a moment."
    : "It is a command, not an agent's session: `agent.start` starts one."
  return failure("WRONG_STATE", message, { state })
}
