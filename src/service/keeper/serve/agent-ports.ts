import { processWithSession } from "../../../agent/claude/live-sessions.ts"
import { thisProgram } from "../../os/own-program.ts"
import type { AgentStartPorts } from "../keeper-ports.ts"

/** What the keeper needs to start agents' sessions; `self` says how this program is started. */
export function agentPorts(self: readonly string[]): AgentStartPorts {
  return {
    ownProgram: () => thisProgram(self),
    newUuid: () => crypto.randomUUID(),
    processWithSession,
  }
}
