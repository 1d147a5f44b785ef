import { type ExecutionId, shortId } from "../../../execution/id.ts"
import { type ExecutionRecord, hasEnded } from "../../../execution/record.ts"
import type { Worktree } from "../../../execution/worktree.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { SerialQueue } from "../../../lib/serial-queue.ts"
import { ExecuteParams } from "../../../protocol/execute.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { KeeperParams, KeeperResult } from "../../../protocol/ipc.ts"
import { MadeWorktree, type WorktreeRequest } from "../../../protocol/worktree.ts"
import type { AuditedKeeper } from "../audit/audited-keeper.ts"
import type { Keeper } from "../keeper.ts"
import type { Journal, Launch } from "../ports.ts"
import type { Planner } from "../starting/planner.ts"
import { askedWithKey, type KeyPorts, repeatedStart } from "../starting/repeated-start.ts"
import type { Workplace } from "./workplace.ts"

type Start = KeeperParams<"start">
type Started = Result<KeeperResult<"start">, Failure>

export type WorktreePorts = {
  keeper: Pick<Keeper, "live">
  audited: Pick<AuditedKeeper, "start" | "refusedStart" | "asked">
  store: Journal
  keys: KeyPorts
  planner: Planner
  /** Runs git for a request, as a child would run: where, as whom, with which variables. */
  runHelper(
    request: WorktreeRequest,
    launch: Pick<Launch, "argv" | "env" | "user">,
  ): Promise<Result<unknown, string>>
}

/** The git worktrees of sessions: made before these start, and taken or dropped after their end. */
export class Worktrees {
  readonly #ports: WorktreePorts
  /** By name: who comes second must find what the first one has made of it. */
  readonly #queues = new Map<string, SerialQueue>()

  constructor(ports: WorktreePorts) {
    this.#ports = ports
  }

  /** Starts a session in a worktree that is made for it; if that fails, there is none. */
  async start(asked: Start, name: string): Promise<Started> {
    const queue = this.#queues.get(name) ?? new SerialQueue()
    this.#queues.set(name, queue)
    try {
      return await queue.run(() => this.#makeAndStart(asked, name))
    } finally {
      if (queue.unfinished === 0) this.#queues.delete(name)
    }
  }

  async #makeAndStart(asked: Start, name: string): Promise<Started> {
    if (this.#isRepeated(asked)) return this.#start(asked, null)
    const made = await this.#make(asked, name)
    const { origin, request } = asked
    if (!made.ok) {
      return this.#ports.audited.refusedStart(origin, "agent.start", request, made.failure)
    }
    const started = this.#start(asked, made.value)
    const { worktree } = made.value
    if (!started.ok || started.value.repeated) {
      await this.#git({ do: "undo", worktree }, worktree.base)
      return started
    }
    void this.#undoUnlessStarted(started.value.record, worktree)
    return ok({ ...started.value, note: made.value.note })
  }

  /** Of an execution whose session is gone on with. */
  workplaceOf(id: ExecutionId): Workplace | null {
    const { keeper, store } = this.#ports
    const spec = (keeper.live.find(id)?.record ?? store.find(id))?.spec
    const worktree = spec?.agent?.worktree
    return spec === undefined || worktree === undefined ? null : { worktree, cwd: spec.cwd }
  }

  #start({ origin, exempt, request, follow, agent }: Start, made: MadeWorktree | null): Started {
    return this.#ports.audited.start(origin, exempt, request, follow, agent, null, made)
  }

  /** Everything else that could be refused comes first. */
  async #make(asked: Start, name: string): Promise<Result<MadeWorktree, Failure>> {
    const { planner } = this.#ports
    const { agent, request, exempt, origin } = asked
    const session = agent === undefined ? null : planner.agentStart(agent, null)
    const planned = planner.plan(request, { principal: origin.principal, exempt }, session)
    if (!planned.ok) return planned
    const busy = this.#running().flatMap(({ spec }) => spec.agent?.worktree?.path ?? [])
    const { cwd } = planned.value.spec
    const made = await this.#git({ do: "make", name, cwd, busy }, cwd)
    if (!made.ok) return made
    return ok(MadeWorktree.parse(made.value))
  }

  #isRepeated({ origin, request, agent }: Start): boolean {
    const { keeper, store, keys } = this.#ports
    const asked = askedWithKey(origin.principal, request, agent ?? null, keys)
    if (asked === null) return false
    return repeatedStart(asked, store, (id) => keeper.live.find(id)?.record) !== null
  }

  /** One that waited in the queue may never have begun. */
  async #undoUnlessStarted({ id }: ExecutionRecord, worktree: Worktree): Promise<void> {
    const ended = await this.#ports.keeper.live.find(id)?.ended
    if (ended?.startedAt === null) await this.#git({ do: "undo", worktree }, worktree.base)
  }

  /** What is asked about the worktree of a session, which may have ended. */
  async ask({
    origin,
    executionId,
    ask,
  }: KeeperParams<"worktree">): Promise<Result<KeeperResult<"worktree">, Failure>> {
    const { keeper, store, audited } = this.#ports
    const record = keeper.live.find(executionId)?.record ?? store.find(executionId)
    const worktree = record?.spec.agent?.worktree
    const method = `agent.${ask.do}`
    const answer =
      record === null || worktree === undefined
        ? fail(noWorktree(executionId))
        : await this.#answer(record, worktree, ask)
    return audited.asked(origin, { method, execution_id: executionId }, answer)
  }

  async #answer(
    record: ExecutionRecord,
    worktree: Worktree,
    ask: KeeperParams<"worktree">["ask"],
  ): Promise<Result<KeeperResult<"worktree">, Failure>> {
    const holder = ask.do === "changes" ? null : this.#holder(record, worktree)
    if (holder !== null) return fail(inUse(holder))
    const about = { worktree, id: shortId(record.id) }
    const done = await this.#git({ ...ask, ...about }, worktree.base)
    return done.ok ? ok({ done: done.value }) : done
  }

  /** Whoever works there now, or is about to go on there after a crash. */
  #holder(record: ExecutionRecord, { path }: Worktree): ExecutionRecord | null {
    if (record.restart?.kind === "pending") return record
    return this.#running().find(({ spec }) => spec.agent?.worktree?.path === path) ?? null
  }

  /** Their end is on record, and told, a moment before they are let go of. */
  #running(): ExecutionRecord[] {
    const { keeper, store } = this.#ports
    const live = keeper.live.all().map(({ record }) => record)
    return live.filter((record) => !hasEnded(store.find(record.id) ?? record))
  }

  /** As the program that sessions run as their user would be allowed to. */
  async #git(request: WorktreeRequest, cwd: string | undefined): Promise<Result<unknown, Failure>> {
    const argv = ["git", "worktree", request.do]
    const asked = ExecuteParams.parse({ argv, ...(cwd === undefined ? {} : { cwd }) })
    const planned = this.#ports.planner.plan(asked, { principal: "", exempt: true }, null)
    if (!planned.ok) return fail(gitNotThere(planned.failure))
    const done = await this.#ports.runHelper(request, planned.value.launch)
    return done.ok ? done : fail(failure("GIT_REFUSED", done.failure))
  }
}

function noWorktree(id: string): Failure {
  const message = `Execution ${id} is no session with a worktree: \`--worktree NAME\` makes one.`
  return failure("WRONG_STATE", message)
}

function inUse({ id }: ExecutionRecord): Failure {
  const short = shortId(id)
  const message =
    `Session ${short} works in this worktree still: end it first ` +
    `(cc-executor agent end ${short}), then try again.`
  return failure("WRONG_STATE", message, { execution_id: id })
}

function gitNotThere({ reason, message, details }: Failure): Failure {
  return failure(reason, `A worktree needs git. ${message}`, details)
}
