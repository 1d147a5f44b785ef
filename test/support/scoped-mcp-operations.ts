import type { Scope } from "../../src/execution/scope.ts"
import { agentDeeds } from "./agent-deeds.ts"
import { type Deed, deeds, type Target } from "./deeds.ts"
import { about, firstQuestion, type ScopedOperation } from "./scoped-operations.ts"
import { workDeeds } from "./work-deeds.ts"

export type McpRequest = {
  method: string
  params: Record<string, unknown>
  /** Whether the client says that it takes a task for an answer. */
  asTask?: boolean
}

/** Every tool. What answers with an execution's state or output needs `read` for that. */
export const toolOperations: ScopedOperation<McpRequest>[] = [
  tool("start", ["execute"], deeds.starts, ({ word }) => ({ command: "true", labels: { word } })),
  tool("run", ["execute", "read"], deeds.starts, ({ word }) => ({
    command: "true",
    labels: { word },
  })),
  {
    ...tool("run", ["execute", "read", "control"], deeds.starts, ({ word }) => ({
      command: "true",
      labels: { word },
      on_cancel: "cancel",
    })),
    variant: "that is cancelled with its call",
  },
  tool("wait", ["read"], deeds.shows, about),
  tool("output", ["read"], deeds.shows, about),
  tool("list", ["read"], deeds.shows, () => ({})),
  tool("input", ["control"], deeds.writes, (target) => ({
    ...about(target),
    text: `written ${target.word}\n`,
  })),
  tool("pause", ["control", "read"], deeds.pauses, about),
  tool("resume", ["control", "read"], deeds.resumes, about),
  tool("cancel", ["control", "read"], deeds.cancels, about),
  tool("signal", ["control", "read"], deeds.signals, (target) => ({
    ...about(target),
    signal: "SIGTERM",
  })),
  tool("verify", ["read"], deeds.shows, (target) => ({ ...about(target), contains: "x" })),
  tool("receipt", ["read"], deeds.shows, about),
  tool("agent_start", ["execute"], deeds.starts, ({ word }) => ({ labels: { word } })),
  tool("agent_send", ["execute"], agentDeeds.sends, (target) => ({
    ...about(target),
    text: target.word,
  })),
  tool("agent_wait", ["read"], agentDeeds.shows, about),
  tool("agent_answer", ["control"], agentDeeds.answers, (target) => ({
    ...about(target),
    ...firstQuestion,
  })),
  tool("agent_interrupt", ["control"], agentDeeds.interrupts, about),
  tool("agent_status", ["read"], agentDeeds.shows, about),
  tool("work_run", ["execute", "read", "attest"], workDeeds.runs, ({ id: path, word }) => ({
    path,
    labels: { word },
  })),
  tool("work_status", ["execute", "read"], workDeeds.shows, ({ id: path }) => ({ path })),
  tool("work_verify", ["execute", "read"], workDeeds.shows, ({ id: path }) => ({ path })),
  {
    ...tool("work_verify", ["execute", "read", "attest"], workDeeds.shows, ({ id: path }) => ({
      path,
      rerun: true,
    })),
    variant: "that runs checks again",
  },
  tool("review_submit", ["execute", "read", "control"], workDeeds.delivers, ({ id: path }) => ({
    path,
    feedback: "All is well.",
    fixes: [],
  })),
]

function tool(
  name: string,
  needs: readonly Scope[],
  deed: Deed,
  args: (target: Target) => object,
): ScopedOperation<McpRequest> {
  return {
    name,
    needs,
    deed,
    request: (target) => ({
      method: "tools/call",
      params: { name, arguments: args(target) },
    }),
  }
}

/** What both eras have, besides `tools/call`. */
export const mcpOperations: ScopedOperation<McpRequest>[] = [
  mcp("ping", [], () => ({})),
  mcp("tools/list", [], () => ({})),
  mcp("prompts/list", [], () => ({})),
  mcp("prompts/get", [], ({ id: execution_id }) => ({
    name: "investigate-failure",
    arguments: { execution_id },
  })),
  mcp("resources/templates/list", [], () => ({})),
  mcp("resources/list", ["read"], () => ({})),
  mcp("resources/read", ["read"], ({ id }) => ({ uri: `cc-executor://executions/${id}` })),
  mcp("completion/complete", ["read"], ({ id }) => ({
    ref: { type: "ref/resource", uri: "cc-executor://executions/{id}" },
    argument: { name: "id", value: id.slice(0, 4) },
  })),
]

export const legacyOperations: ScopedOperation<McpRequest>[] = [
  mcp("initialize", [], () => ({
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "t", version: "1" },
  })),
]

/** Where a connection outlives its requests. */
export const subscribingOperations: ScopedOperation<McpRequest>[] = [
  mcp("resources/subscribe", ["read"], ({ id }) => ({ uri: `cc-executor://executions/${id}` })),
  mcp("resources/unsubscribe", [], ({ id }) => ({ uri: `cc-executor://executions/${id}` })),
]

export const modernOperations: ScopedOperation<McpRequest>[] = [
  mcp("server/discover", [], () => ({})),
  mcp("tasks/get", ["read"], taskOf),
  mcp("tasks/update", ["read"], taskOf),
  mcp("tasks/cancel", ["read", "control"], taskOf, deeds.cancels),
]

/** `run`, by a client that takes a task for an answer. */
export const taskOperations: ScopedOperation<McpRequest>[] = [
  {
    name: "run",
    variant: "answered with a task",
    needs: ["execute", "read"],
    deed: deeds.starts,
    request: ({ word }) => ({
      method: "tools/call",
      params: { name: "run", arguments: { command: "true", labels: { word } } },
      asTask: true,
    }),
  },
]

function taskOf({ id }: Target) {
  return { taskId: `${id}.20000` }
}

function mcp(
  name: string,
  needs: readonly Scope[],
  params: (target: Target) => Record<string, unknown>,
  deed: Deed = deeds.shows,
): ScopedOperation<McpRequest> {
  return { name, needs, deed, request: (target) => ({ method: name, params: params(target) }) }
}
