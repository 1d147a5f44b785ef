import type { AgentStatus } from "../../execution/agent.ts"
import { isSessionId } from "../../execution/session-id.ts"
import type { HostStart } from "../../protocol/agent-orders.ts"
import type { AgentSignal } from "../port.ts"
import type { Recorder } from "./recorder.ts"

type Known = Pick<AgentStatus, "agent_version" | "session_id" | "model" | "permission_mode">

/** Which agent it is, and which session: at first as it was asked for, then as the agent says. */
export class Identity {
  readonly #start: HostStart
  readonly #record: Recorder
  #known: Known

  constructor(start: HostStart, record: Recorder) {
    this.#start = start
    this.#record = record
    const { model, permissionMode: permission_mode, sessionId: session_id } = start.spec
    this.#known = { agent_version: null, session_id, model, permission_mode }
  }

  get known(): Known {
    return this.#known
  }

  told(signal: Extract<AgentSignal, { kind: "session" }>): void {
    const before = this.#known
    this.#known = {
      agent_version: signal.version ?? before.agent_version,
      session_id: isSessionId(signal.sessionId) ? signal.sessionId : before.session_id,
      model: signal.model ?? before.model,
      permission_mode: signal.permissionMode ?? before.permission_mode,
    }
    const { agent_version: version, session_id, model } = this.#known
    if (version === before.agent_version && session_id === before.session_id) return
    const { cwd, spec } = this.#start
    const told = { agent: spec.agent, version, session_id, cwd, model }
    this.#record.add("session", { ...told, resumed_from: spec.resumedFrom })
  }

  configured({ model, permissionMode }: Extract<AgentSignal, { kind: "configured" }>): void {
    const before = this.#known
    this.#known = {
      ...before,
      model: model ?? before.model,
      permission_mode: permissionMode ?? before.permission_mode,
    }
  }
}
