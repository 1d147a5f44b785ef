import { hasEnded } from "../../../execution/record.ts"
import type { Scope } from "../../../execution/scope.ts"
import type { TerminalSize } from "../../../execution/spec.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { type Encoding, executeResultOf } from "../../../protocol/execute.ts"
import { viewOf } from "../../../protocol/execution-view.ts"
import { afterDeed } from "../../../protocol/failed-after.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import {
  isMethodName,
  type MethodName,
  type ParsedParamsOf,
  type Role,
} from "../../../protocol/methods.ts"
import type { Screen } from "../../../protocol/screen.ts"
import type { OutputFeed } from "../../gateway/ports.ts"
import { inputBytes } from "./input-bytes.ts"
import { type Answer, plain, type Reply, type SessionScope, taking } from "./method-answer.ts"
import { agentAnswers, nodeAnswers, notifyAnswers, trialAnswers } from "./operation-answers.ts"
import { Subscription } from "./subscription.ts"

export async function answerMethod(
  session: SessionScope,
  method: string,
  params: unknown,
): Promise<Result<Reply, Failure>> {
  if (isMethodName(method)) return answers[method](session, params)
  const message = `Unknown method: ${JSON.stringify(method.slice(0, 100))}.`
  return fail(failure("METHOD_NOT_FOUND", message))
}

const answers: Record<MethodName, Answer<unknown>> = {
  ...agentAnswers,
  ...trialAnswers,
  ...notifyAnswers,
  ...nodeAnswers,
  execute: taking("execute", execute),
  attach: taking("attach", attach),
  control: taking(
    "control",
    async ({ operations, caller, latestExecution }, { type, signal, execution_id }) => {
      const id = execution_id ?? latestExecution
      if (id === null) {
        const message = "This session has not started anything yet: pass an execution_id."
        return fail(failure("PROCESS_NOT_FOUND", message))
      }
      return plain(await operations.control(caller, id, { type, signal }))
    },
  ),
  input: taking("input", async ({ operations, caller }, params) => {
    const data = inputBytes(params)
    if (!data.ok) return data
    const { execution_id, end, writer, offset } = params
    const input = { data: data.value, end, writer, offset }
    return plain(await operations.input(caller, execution_id, input))
  }),
  resize: taking("resize", async (session, { execution_id, ...size }) => {
    const { operations, caller } = session
    // Of one who drives it, it is the size of its own terminal: one of those that decide.
    const declared = session.subscriptions.get(execution_id)?.declareSize(size)
    return plain(await (declared ?? operations.resize(caller, execution_id, size)))
  }),
  detach: taking("detach", async (session, { execution_id }) => {
    const subscription = await subscriptionTo(session, execution_id)
    if (!subscription.ok) return subscription
    session.detach(subscription.value)
    return ok({ result: {} })
  }),
  ack: taking("ack", async (session, { execution_id, next }) => {
    const subscription = await subscriptionTo(session, execution_id)
    if (!subscription.ok) return subscription
    if (subscription.value.driver?.acknowledge(next) !== false) return ok({ result: {} })
    return fail(failure("INVALID_PARAMS", "`next` is not a cursor."))
  }),
  watch: taking("watch", async (session, { labels }) => plain(session.watch(labels))),
  remove: taking("remove", async ({ operations, caller }, { execution_id }) =>
    plain(await operations.remove(caller, execution_id)),
  ),
  list: taking("list", async ({ operations, caller }, params) =>
    plain(await operations.list(caller, params)),
  ),
  status: taking("status", async ({ operations, caller }, { execution_id }) => {
    const record = await operations.status(caller, execution_id)
    return record.ok ? ok({ result: viewOf(record.value) }) : record
  }),
  receipt: taking("receipt", async ({ operations, caller }, { execution_id }) =>
    plain(await operations.receipt(caller, execution_id)),
  ),
  screen: taking("screen", async ({ operations, caller }, params) =>
    plain(await operations.screen(caller, params)),
  ),
  "transcript.read": taking("transcript.read", async ({ operations, caller }, params) =>
    plain(await operations.readTranscript(caller, params)),
  ),
  "transcript.search": taking("transcript.search", async ({ operations, caller }, params) =>
    plain(await operations.search(caller, params)),
  ),
  "transcript.verify": taking("transcript.verify", async ({ operations, caller }, params) =>
    plain(await operations.verify(caller, params)),
  ),
}

async function execute(
  session: SessionScope,
  params: ParsedParamsOf<"execute">,
): Promise<Result<Reply, Failure>> {
  const { operations, caller } = session
  if (session.isFull) return fail(tooManySubscriptions) // before anything is started
  const started = await operations.execute(caller, params, true)
  if (!started.ok) return started
  const { record, repeated } = started.value
  const result = executeResultOf(record, repeated)
  if (!result.ok) return result
  session.latestExecution = record.id
  return afterDeed<Reply>({ executionId: record.id, done: "started" }, async () => {
    const feed = await operations.openStarted(record, caller)
    if (!feed.ok) return feed
    const subscription = subscribe(session, feed.value, { ...params, role: "driver" })
    if (!subscription.ok) return subscription
    const announce = repeated ? null : ("started" as const)
    return ok({
      result: {
        ...result.value,
        subscription: subscription.value.number,
        ...ackAfter(subscription.value),
      },
      afterwards: () => subscription.value.begin(announce),
      abandon: () => subscription.value[Symbol.dispose](),
    })
  })
}

export const tooManySubscriptions = failure(
  "AT_CAPACITY",
  "This session has too many subscriptions: detach some.",
)

async function attach(
  session: SessionScope,
  params: ParsedParamsOf<"attach">,
): Promise<Result<Reply, Failure>> {
  const scope = params.role === "driver" ? "control" : "read" // a child may wait for its drivers
  const opened = await openFor(session, params, scope)
  if (!opened.ok) return opened
  const { feed, screen } = opened.value
  const subscription = subscribe(session, feed, params)
  if (!subscription.ok) return subscription
  return ok({
    result: {
      execution_id: feed.executionId,
      state: feed.record().state.kind,
      from: feed.from,
      available_from: feed.availableFrom,
      subscription: subscription.value.number,
      ...ackAfter(subscription.value),
      ...(screen === null ? {} : { screen }),
    },
    afterwards: () => subscription.value.begin(null),
    abandon: () => subscription.value[Symbol.dispose](),
  })
}

async function openFor(
  { operations, caller }: SessionScope,
  { execution_id, from, screen, scrollback = 0, sizes }: ParsedParamsOf<"attach">,
  scope: Scope,
): Promise<Result<{ feed: OutputFeed; screen: Screen | null }, Failure>> {
  if (screen === true) return operations.openScreen(caller, execution_id, scrollback, scope)
  const seen = sizes === true ? "with-sizes" : undefined
  const opened = await operations.open(caller, execution_id, from, scope, seen)
  return opened.ok ? ok({ feed: opened.value, screen: null }) : opened
}

function ackAfter({ driver }: Subscription): { ack_after_bytes?: number } {
  const bytes = driver?.ackAfterBytes ?? null
  return bytes === null ? {} : { ack_after_bytes: bytes }
}

/** One subscription per session and execution: a second one takes the first one's place. */
function subscribe(
  session: SessionScope,
  feed: OutputFeed,
  wanted: {
    encoding: Encoding
    role: Role
    acknowledges?: boolean | undefined
    screen?: boolean | undefined
    size?: TerminalSize | undefined
  },
): Result<Subscription, Failure> {
  const { executionId } = feed
  const earlier = session.subscriptions.get(executionId)
  // Whoever moves its subscription is still connected: a driver stands by, and holds its lease.
  if (earlier !== undefined) session.detach(earlier)
  const number = earlier === undefined ? session.newSubscriptionNumber() : ok(earlier.number)
  const drives = wanted.role === "driver" && !hasEnded(feed.record())
  const acknowledges = wanted.acknowledges ?? false
  if (!number.ok) {
    // Who started it was taken for its driver: nobody drives it now.
    if (drives) session.operations.drive(session.caller, feed, acknowledges)[Symbol.dispose]()
    feed[Symbol.dispose]()
    return number
  }
  using _earlierDriver = drives ? session.takeStandBy(executionId) : null
  const subscription = new Subscription(feed, {
    number: number.value,
    encoding: wanted.encoding,
    queries: wanted.screen === true ? "removed" : "kept",
    driver: drives ? session.operations.drive(session.caller, feed, acknowledges) : null,
    declareSize: (size) => session.operations.declareSize(feed, size),
    socket: session,
    over: () => {
      if (session.subscriptions.get(executionId) === subscription) {
        session.subscriptions.delete(executionId)
      }
    },
  })
  session.subscriptions.set(executionId, subscription)
  if (wanted.size !== undefined) void subscription.declareSize(wanted.size)
  return ok(subscription)
}

/** By the whole id, or by a prefix that fits one subscription of this session. */
async function subscriptionTo(
  session: SessionScope,
  executionId: string,
): Promise<Result<Subscription, Failure>> {
  const exact = session.subscriptions.get(executionId)
  if (exact !== undefined) return ok(exact)
  const found = await session.operations.status(session.caller, executionId)
  if (!found.ok) return found
  const subscription = session.subscriptions.get(found.value.id)
  if (subscription !== undefined) return ok(subscription)
  const state = found.value.state.kind
  const message = `This session is not attached to execution ${found.value.id}.`
  return fail(failure("WRONG_STATE", message, { state }))
}
