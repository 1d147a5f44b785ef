import type { ExecutionRecord } from "../../execution/record.ts"
import type { Scope } from "../../execution/scope.ts"
import { ok, type Result } from "../../lib/result.ts"
import type { Failure } from "../../protocol/failure.ts"
import type { PolicyKind } from "../../protocol/notifications.ts"
import type { Caller } from "../../service/access/caller.ts"
import { permit, scopeOf } from "../../service/access/permission.ts"
import { noNodes } from "../../service/gateway/operations/no-nodes.ts"
import type { Answer, DrivenFeed } from "../../service/gateway/ports.ts"
import type { FleetNode, NodeIdentity, PassedOn, RemoteOperations } from "../ports.ts"
import { FeedConnection } from "./feed-connection.ts"
import { NodeCalls, type NodeMethod, type NodeResult } from "./node-calls.ts"
import { NodeWatch } from "./node-watch.ts"
import { RemoteFeed } from "./remote-feed.ts"
import { pageOf, pageRequest } from "./remote-page.ts"
import type { Attached, AttachParams } from "./wire.ts"

export type RemoteOptions = {
  identity: NodeIdentity
  policy: PolicyKind
  passedOn: PassedOn
  reportBuffers: (bytes: number) => void
}

type Opened = { feed: RemoteFeed; attached: Attached }

/** What callers may ask of another node: each is asked there, in the caller's name. */
export function remoteOperations(node: FleetNode, options: RemoteOptions): RemoteOperations {
  const { identity, reportBuffers, passedOn } = options
  const calls = new NodeCalls(node, identity)
  const feeds = new Set<RemoteFeed>()

  return {
    policy: options.policy,

    agents: {
      start: (caller, params) => start(caller, "agent.start", params, (said) => said.execution_id),
      send: (caller, params) => steer(caller, "agent.send", params),
      answer: (caller, params) => steer(caller, "agent.answer", params),
      interrupt: (caller, params) => steer(caller, "agent.interrupt", params),
      end: (caller, params) => steer(caller, "agent.end", params),
      configure: (caller, params) => steer(caller, "agent.configure", params),
      status: (caller, params) => calls.ask(caller, "agent.status", params),
      inbox: (caller, params) => calls.ask(caller, "agent.inbox", params),
      changes: (caller, params) => calls.ask(caller, "agent.changes", params),
      take: (caller, params) => steer(caller, "agent.take", params),
      drop: (caller, params) => steer(caller, "agent.drop", params),
    },

    trials: {
      begin: (caller, params) => start(caller, "trial.begin", params, () => undefined),
      renew: (caller, params) => calls.ask(caller, "trial.renew", params),
      end: (caller, params) => deed(caller, "trial.end", params),
      status: (caller, params) => calls.ask(caller, "trial.status", params),
      list: (caller, params) => calls.ask(caller, "trial.list", params),
    },

    nodes: noNodes,

    notify: {
      list: (caller, params) => calls.ask(caller, "notify.list", params),
      test: (caller, params) => deed(caller, "notify.test", params),
    },

    execute: (caller, params) => start(caller, "execute", params, ({ record }) => record.id),

    control: (caller, execution_id, { type, signal }) =>
      steer(caller, "control", { execution_id, type, signal }),

    input(caller, execution_id, { data, end, writer, offset }) {
      const bytes = { data: data.toBase64(), encoding: "base64" }
      return steer(caller, "input", { execution_id, ...bytes, end, writer, offset })
    },

    async resize(caller, execution_id, { cols, rows }) {
      return empty(await calls.ask(caller, "resize", { execution_id, cols, rows }))
    },

    async remove(caller, execution_id) {
      return empty(await steer(caller, "remove", { execution_id }))
    },

    list: (caller, params) => calls.ask(caller, "list", params),

    async status(caller, execution_id) {
      const told = await calls.ask(caller, "status", { execution_id })
      return told.ok ? ok(told.value.record) : told
    },

    receipt: (caller, execution_id) => calls.ask(caller, "receipt", { execution_id }),

    screen: (caller, params) => calls.ask(caller, "screen", params),

    async openScreen(caller, execution_id, scrollback, scope) {
      const asked = { ...attachParams(execution_id, "tail", scope), screen: { scrollback } }
      const opened = await open(caller, asked)
      if (!opened.ok) return opened
      const { feed, attached } = opened.value
      if (attached.screen === null) throw new Error("another node attached without its screen")
      return ok({ feed, screen: attached.screen })
    },

    declareSize: (feed, size) => ownFeed(feed).declareSize(size),

    readTranscript: (caller, params) => calls.ask(caller, "transcript.read", params),
    search: (caller, params) => calls.ask(caller, "transcript.search", params),
    verify: (caller, params) => calls.ask(caller, "transcript.verify", params),

    async readOutput(caller, request, keep) {
      const page = await calls.ask(caller, "transcript.read", pageRequest(request))
      return page.ok ? ok(pageOf(page.value, keep)) : page
    },

    async open(caller, id, from, scope = scopeOf.attach, sizes) {
      const opened = await open(caller, {
        ...attachParams(id, from, scope),
        sizes: sizes !== undefined,
      })
      return opened.ok ? ok(opened.value.feed) : opened
    },

    async openStarted({ id }, caller) {
      const asked = { ...attachParams(id, "start", scopeOf.attach), started: true }
      const opened = await open(caller, asked)
      return opened.ok ? ok(opened.value.feed) : opened
    },

    drive: (_caller, feed, acknowledges) => ownFeed(feed).drive(acknowledges),

    watch(caller, labels, changed) {
      const permitted = permit(caller, scopeOf.watch)
      if (!permitted.ok) return permitted
      return ok(new NodeWatch({ node, identity, caller, calls, labels, changed }))
    },

    lost(record: ExecutionRecord) {
      for (const feed of feeds) if (feed.executionId === record.id) feed.lost(record)
    },

    [Symbol.dispose]() {
      calls[Symbol.dispose]()
      for (const feed of feeds) feed[Symbol.dispose]()
    },
  }

  async function open(caller: Caller, asked: AttachParams): Answer<Opened> {
    const opened = await FeedConnection.open(node, identity, caller, asked)
    if (!opened.ok) return opened
    const over = () => void feeds.delete(feed)
    const feed = new RemoteFeed({ ...opened.value, caller, reportBuffers, over })
    feeds.add(feed)
    return ok({ feed, attached: opened.value.attached })
  }

  function ownFeed(feed: DrivenFeed): RemoteFeed {
    if (feed instanceof RemoteFeed) return feed
    throw new Error("a feed of another node's was given for one of this node's")
  }

  /** Under a key, so that what is sent again after a cut is done once. */
  function start<Name extends "execute" | "agent.start" | "trial.begin">(
    caller: Caller,
    method: Name,
    params: { idempotency_key?: string | undefined },
    idOf: (said: NodeResult<Name>) => string | undefined,
  ): Answer<NodeResult<Name>> {
    const key = params.idempotency_key ?? crypto.randomUUID()
    return deed(caller, method, { ...params, idempotency_key: key }, idOf)
  }

  function steer<Name extends NodeMethod>(
    caller: Caller,
    method: Name,
    params: { execution_id: string; [name: string]: unknown },
  ): Answer<NodeResult<Name>> {
    return deed(caller, method, params, () => params.execution_id)
  }

  /** What is refused, whoever asked for it notes; what was done, nobody but this node. */
  async function deed<Name extends NodeMethod>(
    caller: Caller,
    method: Name,
    params: unknown,
    idOf: (said: NodeResult<Name>) => string | undefined = () => undefined,
  ): Answer<NodeResult<Name>> {
    const done = await calls.ask(caller, method, params)
    if (done.ok) await passedOn(caller, { node: node.name, method, executionId: idOf(done.value) })
    return done
  }
}

function attachParams(execution_id: string, from: string, scope: Scope): AttachParams {
  return { execution_id, from, scope, started: false, sizes: false, screen: null }
}

function empty(done: Result<unknown, Failure>): Result<Record<string, never>, Failure> {
  return done.ok ? ok({}) : done
}
