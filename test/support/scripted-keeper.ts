import type { KeeperPorts, KeeperSettings } from "../../src/keeper/keeper.ts"
import type { Clock } from "../../src/keeper/ports.ts"
import { MemoryJournal } from "./memory-journal.ts"
import { MemoryTranscripts } from "./memory-transcripts.ts"
import { sampleId } from "./sample-record.ts"

export const keeperSettings: KeeperSettings = {
  maxExecutions: 2,
  maxQueue: 2,
  plan: {
    shell: "/bin/sh",
    policy: { kind: "everything" },
    baseEnv: {},
    cwd: "/",
    budget: { bytes: 1_048_576, lines: null, policy: "drop-oldest" },
    wallTimeoutMs: null,
    idleTimeoutMs: null,
    limits: { memoryBytes: null, cpus: null, pids: null },
    enforceable: new Set(),
  },
  supervision: {
    graceMs: 5000,
    killLimitMs: 5000,
    lingerMs: 2000,
    disconnectLeaseMs: 10_000,
    throttleBytesPerSecond: Infinity,
  },
}

/** A keeper's world in which nothing can be started. */
export function keeperPorts(clock: Clock): KeeperPorts {
  let ids = 0
  return {
    clock,
    spawner: {
      containment: "best-effort",
      enforceable: new Set(),
      spawn: () => ({ ok: false, failure: { errno: "EAGAIN", message: "nothing starts here" } }),
    },
    transcripts: new MemoryTranscripts(),
    store: new MemoryJournal(),
    programs: { locate: (name) => ({ ok: true, value: { path: name, realPath: name } }) },
    ifRoom: thereIsRoom,
    withReserve: thereIsRoom,
    newId: () => sampleId(++ids),
    fingerprint: (request) => JSON.stringify(request),
    signalNumber: () => null,
    journal: () => undefined,
    journalEnd: async () => undefined,
    advanced: () => undefined,
    changed: () => undefined,
    broke: () => undefined,
  }
}

function thereIsRoom(write: () => void): boolean {
  write()
  return true
}
