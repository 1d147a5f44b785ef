import type { Scope } from "../../src/execution/scope.ts"
import { agentDeeds } from "./agent-deeds.ts"
import { type Deed, deeds, type Target } from "./deeds.ts"
import { aboutTarget, notifyDeeds } from "./notify-deeds.ts"
import { announcementFor, pathFor, trialDeeds } from "./trial-deeds.ts"

/** One thing that can be asked for at one door, and who may. */
export type ScopedOperation<Request> = {
  /** As it is called where operations are defined. */
  name: string
  /** Where one name does several things. */
  variant?: string
  /** All of these. Nothing: whoever was let in may. */
  needs: readonly Scope[]
  deed: Deed
  request: (target: Target) => Request
}

export type NativeRequest = { method: string; params: object }

export const firstQuestion = { question_id: "q1", behavior: "allow" }

export const about = ({ id: execution_id }: Target) => ({ execution_id })

/** Every method of the native protocol, but for those about a session's own subscription. */
export const nativeOperations: ScopedOperation<NativeRequest>[] = [
  native("execute", ["execute"], deeds.starts, ({ word }) => ({
    command: "true",
    labels: { word },
  })),
  ...steering().map(({ type, signal, deed }) => ({
    ...native("control", ["control"], deed, (target) => ({ ...about(target), type, signal })),
    variant: type,
  })),
  native("input", ["control"], deeds.writes, (target) => ({
    ...about(target),
    data: `written ${target.word}\n`,
  })),
  native("resize", ["control"], deeds.resizes, (target) => ({
    ...about(target),
    cols: 111,
    rows: 33,
  })),
  native("remove", ["control"], deeds.removes, about),
  native("attach", ["read"], deeds.shows, about),
  {
    ...native("attach", ["control"], deeds.follows, (target) => ({
      ...about(target),
      role: "driver",
    })),
    variant: "as a driver",
  },
  native("watch", ["read"], deeds.shows, () => ({})),
  native("list", ["read"], deeds.shows, () => ({})),
  native("status", ["read"], deeds.shows, about),
  native("receipt", ["read"], deeds.shows, about),
  native("screen", ["read"], deeds.draws, about),
  native("transcript.read", ["read"], deeds.shows, about),
  native("transcript.search", ["read"], deeds.shows, (target) => ({
    ...about(target),
    text: target.word,
  })),
  native("transcript.verify", ["read"], deeds.shows, about),
  native("agent.start", ["execute"], deeds.starts, ({ word }) => ({ labels: { word } })),
  native("agent.send", ["execute"], agentDeeds.sends, (target) => ({
    ...about(target),
    text: target.word,
  })),
  native("agent.answer", ["control"], agentDeeds.answers, (target) => ({
    ...about(target),
    ...firstQuestion,
  })),
  native("agent.interrupt", ["control"], agentDeeds.interrupts, about),
  native("agent.end", ["control"], agentDeeds.ends, about),
  native("agent.configure", ["control"], agentDeeds.configures, (target) => ({
    ...about(target),
    model: target.word,
  })),
  native("agent.changes", ["read"], agentDeeds.comparesWorktree, about),
  native("agent.take", ["control"], agentDeeds.removesWorktree, about),
  native("agent.drop", ["control"], agentDeeds.removesWorktree, about),
  native("agent.status", ["read"], agentDeeds.shows, about),
  native("agent.inbox", ["read"], agentDeeds.shows, () => ({})),
  native("notify.list", ["read"], notifyDeeds.shows, () => ({})),
  native("notify.test", ["execute"], notifyDeeds.tests, () => aboutTarget),
  native("trial.begin", ["attest"], trialDeeds.begins, ({ word }) => announcementFor(word)),
  native("trial.renew", ["attest"], trialDeeds.shows, ({ id: trial }) => ({ trial })),
  native("trial.end", ["attest"], trialDeeds.ends, ({ id: trial }) => ({ trial })),
  native("trial.status", ["read"], trialDeeds.shows, ({ id: trial }) => ({ trial })),
  native("trial.list", ["read"], trialDeeds.shows, ({ word }) => ({ path: pathFor(word) })),
]

function steering() {
  return [
    { type: "PAUSE", signal: undefined, deed: deeds.pauses },
    { type: "RESUME", signal: undefined, deed: deeds.resumes },
    { type: "CANCEL", signal: undefined, deed: deeds.cancels },
    { type: "SIGNAL", signal: "TERM", deed: deeds.signals },
  ] as const
}

function native(
  name: string,
  needs: readonly Scope[],
  deed: Deed,
  params: (target: Target) => object,
): ScopedOperation<NativeRequest> {
  return { name, needs, deed, request: (target) => ({ method: name, params: params(target) }) }
}

export type HttpRequest = { method: string; path: string; body?: object }

/** Every route, but for `/mcp` and the WebSocket. */
export const httpOperations: ScopedOperation<HttpRequest>[] = [
  route("post /executions", ["execute"], deeds.starts, ({ word }) => ({
    command: "true",
    labels: { word },
  })),
  route("get /executions", ["read"], deeds.shows),
  route("get /executions/:id", ["read"], deeds.shows),
  route("delete /executions/:id", ["control"], deeds.removes),
  ...steering().map(({ type, signal, deed }) => ({
    ...route("post /executions/:id/control", ["control"], deed, () => ({ type, signal })),
    variant: type,
  })),
  route("post /executions/:id/input", ["control"], deeds.writes, ({ word }) => ({
    data: `written ${word}\n`,
  })),
  route("post /executions/:id/resize", ["control"], deeds.resizes, () => ({
    cols: 111,
    rows: 33,
  })),
  route("get /executions/:id/output", ["read"], deeds.shows),
  route("get /executions/:id/screen", ["read"], deeds.draws),
  route("get /executions/:id/transcript", ["read"], deeds.shows),
  {
    ...route("get /executions/:id/search", ["read"], deeds.shows),
    request: ({ id, word }) => ({ method: "GET", path: `/executions/${id}/search?text=${word}` }),
  },
  route("get /executions/:id/receipt", ["read"], deeds.shows),
  route("post /executions/:id/verify", ["read"], deeds.shows, () => ({})),
  route("post /agents", ["execute"], deeds.starts, ({ word }) => ({ labels: { word } })),
  route("get /agents/:id", ["read"], agentDeeds.shows),
  route("post /agents/:id/turns", ["execute"], agentDeeds.sends, ({ word }) => ({ text: word })),
  route("post /agents/:id/answers", ["control"], agentDeeds.answers, () => firstQuestion),
  route("post /agents/:id/interrupt", ["control"], agentDeeds.interrupts, () => ({})),
  route("post /agents/:id/end", ["control"], agentDeeds.ends, () => ({})),
  route("post /agents/:id/configure", ["control"], agentDeeds.configures, ({ word }) => ({
    model: word,
  })),
  route("get /agents/:id/changes", ["read"], agentDeeds.comparesWorktree),
  route("post /agents/:id/take", ["control"], agentDeeds.removesWorktree, () => ({})),
  route("post /agents/:id/drop", ["control"], agentDeeds.removesWorktree, () => ({})),
  route("get /agents/:id/events", ["read"], deeds.shows),
  route("get /inbox", ["read"], agentDeeds.shows),
  route("post /trials", ["attest"], trialDeeds.begins, ({ word }) => announcementFor(word)),
  {
    ...route("get /trials", ["read"], trialDeeds.shows),
    request: ({ word }) => ({ method: "GET", path: `/trials?path=${pathFor(word)}` }),
  },
  route("get /trials/:id", ["read"], trialDeeds.shows),
  route("post /trials/:id/renew", ["attest"], trialDeeds.shows, () => ({})),
  route("post /trials/:id/end", ["attest"], trialDeeds.ends, () => ({})),
  route("get /notifications", ["read"], notifyDeeds.shows),
  route("post /notifications/test", ["execute"], notifyDeeds.tests, () => aboutTarget),
  route("get /events", ["read"], deeds.shows),
  route("post /sessions", [], deeds.shows),
  route("delete /sessions", [], deeds.shows),
  route("post /tickets", [], deeds.shows),
  route("get /openapi.json", [], deeds.shows),
  route("get /health", [], deeds.shows),
  route("get /healthz", [], deeds.shows),
  route("get /readyz", [], deeds.shows),
  route("get /metrics", ["metrics"], deeds.shows),
  route("get /history", ["metrics"], deeds.shows),
]

function route(
  name: string,
  needs: readonly Scope[],
  deed: Deed,
  body?: (target: Target) => object,
): ScopedOperation<HttpRequest> {
  const [method = "", path = ""] = name.split(" ")
  return {
    name,
    needs,
    deed,
    request: (target) => ({
      method: method.toUpperCase(),
      path: path.replace(":id", target.id),
      ...(body === undefined ? {} : { body: body(target) }),
    }),
  }
}
