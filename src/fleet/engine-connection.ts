import type { Log } from "../lib/log.ts"
import type { EngineView } from "../protocol/node.ts"
import type { EngineFacts, Tables } from "./engine-port.ts"
import { engineProblems } from "./engine-problems.ts"

/** The engine, once it is connected: its tables, and what it promises. */
export type ConnectedEngine = AsyncDisposable & {
  tables: Tables
  facts(): Promise<EngineFacts>
  /** Makes what is missing: an engine may have come back empty. */
  makeTables(): Promise<void>
}

export type EngineConnectionPorts = {
  /** Throws while it cannot be had. */
  connect: () => Promise<ConnectedEngine>
  /** It is used whatever it may lose. */
  unsafe: boolean
  log: Log
}

/** The engine as this node has it: not yet, for now not, or not safe enough to be used. */
export class EngineConnection implements AsyncDisposable {
  readonly #ports: EngineConnectionPorts
  #engine: ConnectedEngine | null = null
  #facts: EngineFacts | null = null
  #wasTold = false
  /** Whether it took or refused what it was asked last. */
  answers = false

  constructor(ports: EngineConnectionPorts) {
    this.#ports = ports
  }

  get tables(): Tables | null {
    return this.#engine?.tables ?? null
  }

  /** Connects, once: after that its client comes back by itself. Answers whether it may be used. */
  async open(): Promise<boolean> {
    const { log, connect } = this.#ports
    try {
      this.#engine ??= await connect()
      this.#wasTold = false
    } catch (error) {
      if (!(error instanceof Error)) throw error
      if (!this.#wasTold) log.warn({ reason: error.message }, "the fleet's engine is not reached")
      this.#wasTold = true
      return false
    }
    if (this.#facts === null || this.problems().length > 0) {
      this.#facts = await this.#engine.facts().catch(() => null)
      const problems = this.problems()
      if (problems.length > 0) log.error({ problems }, "the fleet's engine is not safe")
    }
    return this.#facts !== null && this.problems().length === 0
  }

  /** Why it must not be used. */
  problems(): string[] {
    return this.#facts === null || this.#ports.unsafe ? [] : engineProblems(this.#facts)
  }

  async makeTables(): Promise<void> {
    await this.#engine?.makeTables().catch(() => undefined) // the next request says why not
  }

  view(): EngineView {
    const facts = this.#facts
    const servers = (facts?.servers ?? []).map(({ name, version, syncsAlways }) => {
      return { name, version, syncs_always: syncsAlways }
    })
    return {
      connected: this.answers,
      version: facts?.version ?? null,
      replicas: facts?.replicas ?? null,
      servers,
      problems: facts === null ? [] : engineProblems(facts),
      unsafe: this.#ports.unsafe,
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#engine?.[Symbol.asyncDispose]()
  }
}
