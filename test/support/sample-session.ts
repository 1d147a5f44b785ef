import type { AgentSpec, AgentStatus } from "../../src/execution/agent.ts"
import type { ExecutionRecord } from "../../src/execution/record.ts"
import { sampleRecord, sampleSpec } from "./sample-record.ts"

const sessionId = "00000000-0000-4000-8000-000000000001"
const tokens = { input: 0, output: 0, cache_read: 0, cache_creation: 0 }

const sampleAgentSpec: AgentSpec = {
  agent: "claude",
  sessionId,
  resumedFrom: null,
  fork: false,
  model: null,
  permissionMode: null,
  maxTurns: null,
  maxCostUsd: null,
  maxTokens: null,
  onLimit: "wait",
  restart: "resume",
  envFile: null,
}

export function sampleStatus(change: Partial<AgentStatus> = {}): AgentStatus {
  return {
    v: 1,
    agent: "claude",
    agent_version: null,
    session_id: sessionId,
    resumed_from: null,
    model: null,
    permission_mode: null,
    activity: { state: "idle", since: "2026-01-01T00:00:00.000Z", awaited: "a turn" },
    turns: { accepted: 0, ended: 0, waiting: 0, current: null, responses: 0 },
    questions: [],
    usage: { cost_usd: 0, tokens, by_model: {}, context_tokens: null, context_window: null },
    limit: null,
    last_turn: null,
    crashes: 0,
    end: null,
    ...change,
  }
}

/** An agent's session, as its keeper would have left it. */
export function sampleSession(
  agent: Partial<AgentSpec> = {},
  change: Partial<ExecutionRecord> = {},
): ExecutionRecord {
  const argv = ["claude", "--verbose"]
  const spec = { ...sampleSpec, argv, agent: { ...sampleAgentSpec, ...agent } }
  return sampleRecord({ spec, agent: sampleStatus(), ...change })
}
