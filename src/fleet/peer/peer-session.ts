import type { z } from "zod"
import type { ExecutionRecord } from "../../execution/record.ts"
import { tryParseJson } from "../../lib/parse-json.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import { checkParams, invalidParams, issuesText } from "../../protocol/check-params.ts"
import { type Failure, failure } from "../../protocol/failure.ts"
import { methods } from "../../protocol/methods.ts"
import { tryAgainLater } from "../../protocol/session-limits.ts"
import type { Caller } from "../../service/access/caller.ts"
import type { Operations, OutputFeed, Parting, Refusals } from "../../service/gateway/ports.ts"
import {
  plain,
  type Reply,
  type SessionScope,
} from "../../service/transports/socket/method-answer.ts"
import { Session, type SessionOptions } from "../../service/transports/socket/session.ts"
import { answerMethod } from "../../service/transports/socket/session-methods.ts"
import type { OpenSession } from "../../service/transports/socket/sessions.ts"
import { WatchedChanges } from "../../service/transports/socket/watched-changes.ts"
import { SentFeed } from "./sent-feed.ts"
import {
  type Attached,
  type AttachParams,
  FeedOrder,
  isRecordMethod,
  looksLikeOrder,
  type NodeNotice,
  type RecordMethod,
  recordMethods,
} from "./wire.ts"

type Outcome = Promise<Result<Reply, Failure>>

/**
 * What another node asks for one of its callers: the native protocol, but with records in the place
 * of views, for the node shows them to its clients itself. A feed has a connection of its own: how
 * fast it is read is nobody else's affair.
 */
export class PeerSession implements OpenSession {
  readonly #session: Session
  readonly #operations: Operations
  readonly #changes: WatchedChanges
  #feed: SentFeed | null = null

  constructor(options: Omit<SessionOptions, "answer">, version: string) {
    const { caller, operations, connection } = options
    this.#operations = operations
    this.#session = new Session({
      ...options,
      refusals: naming(options.refusals, caller),
      answer: (scope, method, params) => this.#answer(scope, method, params),
    })
    const tooSlow = () => connection.close(tryAgainLater, "too slow to watch")
    this.#changes = new WatchedChanges(this.#session, tooSlow, recordMessage)
    this.#session.send(JSON.stringify({ notice: "greeting", version } satisfies NodeNotice))
  }

  get id(): string {
    return this.#session.id
  }

  get caller(): Caller {
    return this.#session.caller
  }

  get isTold(): boolean {
    return this.#feed?.isTold ?? true
  }

  get isClosed(): boolean {
    return this.#session.isClosed
  }

  leave(_parting: Parting): void {
    this.#session.leave()
  }

  hasAnswered(_parting: Parting): boolean {
    return this.#session.hasAnswered()
  }

  async receive(text: string): Promise<void> {
    if (!looksLikeOrder(text)) return this.#session.receive(text)
    const order = FeedOrder.safeParse(tryParseJson(text))
    if (order.success) this.#feed?.order(order.data)
  }

  drained(): void {
    this.#session.drained()
    this.#changes.drained()
    this.#feed?.pump()
  }

  refusedTooLarge(mostBytes: number): void {
    this.#session.refusedTooLarge(mostBytes)
  }

  [Symbol.dispose](): void {
    this.#session[Symbol.dispose]()
    this.#changes[Symbol.dispose]()
    this.#feed?.[Symbol.dispose]()
  }

  async #answer(scope: SessionScope, method: string, params: unknown): Outcome {
    if (method === "resize" && this.#feed !== null) return this.#resize(this.#feed, params)
    if (!isRecordMethod(method)) return answerMethod(scope, method, params)
    return this.#answerRecord(method, params)
  }

  async #answerRecord(method: RecordMethod, params: unknown): Outcome {
    const { caller } = this
    switch (method) {
      case "execute": {
        const asked = checked(recordMethods.execute.params, params)
        if (!asked.ok) return asked
        return plain(await this.#operations.execute(caller, asked.value, false))
      }
      case "status": {
        const asked = checked(recordMethods.status.params, params)
        if (!asked.ok) return asked
        const record = await this.#operations.status(caller, asked.value.execution_id)
        return record.ok ? ok({ result: { record: record.value } }) : record
      }
      case "watch": {
        const asked = checked(recordMethods.watch.params, params)
        return asked.ok ? plain(this.#changes.watch(asked.value.labels)) : asked
      }
      case "attach": {
        const asked = checked(recordMethods.attach.params, params)
        return asked.ok ? this.#attach(asked.value) : asked
      }
    }
  }

  async #attach(asked: AttachParams): Outcome {
    if (this.#feed !== null) return fail(oneFeed)
    const opened = await this.#open(asked)
    if (!opened.ok) return opened
    const { feed, screen } = opened.value
    const sent = new SentFeed(feed, this.#operations, this.caller, this.#session)
    if (this.#feed !== null || this.isClosed) {
      sent[Symbol.dispose]()
      return fail(oneFeed)
    }
    this.#feed = sent
    const attached: Attached = {
      record: feed.record(),
      from: feed.from,
      available_from: feed.availableFrom,
      passed_bytes: feed.passedBytes(),
      screen,
    }
    return ok({ result: attached })
  }

  async #open(
    asked: AttachParams,
  ): Promise<Result<{ feed: OutputFeed; screen: Attached["screen"] }, Failure>> {
    const { execution_id, from, scope, started, sizes, screen } = asked
    const operations = this.#operations
    const { caller } = this
    if (screen !== null)
      return operations.openScreen(caller, execution_id, screen.scrollback, scope)
    const opened = started
      ? await this.#openOwn(asked)
      : await operations.open(caller, execution_id, from, scope, sizes ? "with-sizes" : undefined)
    return opened.ok ? ok({ feed: opened.value, screen: null }) : opened
  }

  /** Whoever has started it may follow it, whatever else it may. */
  async #openOwn({ execution_id, from }: AttachParams): Promise<Result<OutputFeed, Failure>> {
    const { caller } = this
    const reader = { ...caller, scopes: new Set([...caller.scopes, "read"] as const) }
    const found = await this.#operations.status(reader, execution_id)
    if (!found.ok) return found
    if (found.value.principal !== caller.principal) return fail(notOwn)
    return this.#operations.open(reader, found.value.id, from)
  }

  async #resize(feed: SentFeed, params: unknown): Outcome {
    const asked = checked(methods.resize.params, params)
    if (!asked.ok) return asked
    const { cols, rows } = asked.value
    return plain(await feed.declareSize({ cols, rows }))
  }
}

function recordMessage(record: ExecutionRecord): string {
  return JSON.stringify({ notice: "record", record, changed: true } satisfies NodeNotice)
}

function checked<Schema extends z.ZodType>(
  schema: Schema,
  params: unknown,
): Result<z.output<Schema>, Failure> {
  const read = checkParams(schema, params ?? {})
  if (read.ok) return read
  const message = `Invalid parameters: ${issuesText(read.failure)}.`
  return fail(invalidParams(message, read.failure, "everything"))
}

/** With the node that spoke for the caller. */
function naming(refusals: Refusals, { node }: Caller): Refusals {
  return { refused: (refusal) => refusals.refused({ ...refusal, node }) }
}

const oneFeed = failure("WRONG_STATE", "A connection between nodes has one feed at most.")
const notOwn = failure("FORBIDDEN", "Another principal has started this execution.")
