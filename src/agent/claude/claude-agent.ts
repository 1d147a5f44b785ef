import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { isErrno } from "../../lib/errno.ts"
import type { HostStart } from "../../protocol/agent-orders.ts"
import type { Agent, AgentEvents, AgentProcess, AgentRun } from "../port.ts"
import { ClaudeProcess } from "./claude-process.ts"
import { argumentsOf, uuidOfTurn, variablesOf } from "./command.ts"
import { configurationFolder } from "./live-sessions.ts"
import type { Command } from "./spawn-claude.ts"

export type Surroundings = Pick<Command, "spawned" | "complained"> & {
  /** As it is at the moment: a file may be a part of it. Throws when that cannot be read. */
  env(): Command["env"]
}

/** Claude Code, in one session. */
export class ClaudeAgent implements Agent {
  readonly #start: HostStart
  readonly #surroundings: Surroundings

  constructor(start: HostStart, surroundings: Surroundings) {
    this.#start = start
    this.#surroundings = surroundings
  }

  /** It writes its sessions late: one that was killed early has none. */
  hasSession(): boolean {
    const folder = configurationFolder(this.#surroundings.env())
    if (folder === null) return false
    const projects = join(folder, "projects")
    const file = `${this.#start.spec.sessionId}.jsonl`
    return foldersIn(projects).some((project) => existsSync(join(projects, project, file)))
  }

  start(run: AgentRun, events: AgentEvents): AgentProcess {
    const { argv, argv0, spec } = this.#start
    const [program = "", ...further] = argv
    const command = {
      argv: [program, ...argumentsOf(this.#start, run), ...further],
      argv0,
      cwd: process.cwd(), // where this host was started, whatever that is called by now
      ...this.#surroundings,
      env: { ...this.#surroundings.env(), ...variablesOf(this.#start, run) },
    }
    return new ClaudeProcess(command, events, (turnId) => uuidOfTurn(spec.sessionId, turnId))
  }
}

function foldersIn(path: string): string[] {
  try {
    return readdirSync(path)
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "EACCES")) return []
    throw error
  }
}
