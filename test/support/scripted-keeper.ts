import { heldByNothing } from "../../src/execution/spec.ts"
import { fail, ok } from "../../src/lib/result.ts"
import { failure } from "../../src/protocol/failure.ts"
import { SessionRestarts } from "../../src/service/keeper/agents/session-restarts.ts"
import { Worktrees } from "../../src/service/keeper/agents/worktrees.ts"
import type { AuditedKeeper } from "../../src/service/keeper/audit/audited-keeper.ts"
import type { Keeper } from "../../src/service/keeper/keeper.ts"
import type { KeeperPorts, KeeperSettings } from "../../src/service/keeper/keeper-ports.ts"
import type { Clock } from "../../src/service/keeper/ports.ts"
import { Planner } from "../../src/service/keeper/starting/planner.ts"
import { MemoryJournal } from "./memory-journal.ts"
import { MemoryTranscripts } from "./memory-transcripts.ts"
import { NotedAudit } from "./noted.ts"
import { sampleId } from "./sample-record.ts"

export const keeperSettings: KeeperSettings = {
  maxExecutions: 2,
  maxQueue: 2,
  maxExecutionsPerPrincipal: 100,
  maxQueuePerPrincipal: 100,
  startsPerMinute: 1_000_000,
  maxDiskBytes: Infinity,
  retainBytesPerPrincipal: Infinity,
  plan: () => ({
    shell: "/bin/sh",
    policy: { kind: "everything" },
    baseEnv: {},
    cwd: "/",
    user: null,
    approval: [],
    budget: { bytes: 1_048_576, lines: null, policy: "drop-oldest" },
    wallTimeoutMs: null,
    idleTimeoutMs: null,
    limits: { memoryBytes: null, cpus: null, pids: null },
    holders: heldByNothing,
    maxWallTimeoutMs: Infinity,
    maxOutputBytes: Infinity,
    retainBytesPerPrincipal: Infinity,
  }),
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
      spawn: () => fail({ errno: "ENOEXEC", message: "nothing starts here", hasRun: false }),
      adopt() {
        throw new Error("nothing was handed over here")
      },
      endUnadopted: () => undefined,
    },
    transcripts: new MemoryTranscripts(),
    redaction: null,
    store: new MemoryJournal(),
    programs: {
      locate: (name) => ({ ok: true, value: { path: name, realPath: name } }),
      filesOf: ({ realPath }) => ({ ok: true, value: [{ realPath, stamp: "" }] }),
      directory: (path) => ({ ok: true, value: path }),
    },
    withoutReserve: thereIsRoom,
    withReserve: thereIsRoom,
    newId: () => sampleId(++ids),
    fingerprint: (request) => JSON.stringify(request),
    ownProgram: () => ["/cc-executor"],
    newUuid: () => `00000000-0000-4000-8000-${String(++ids).padStart(12, "0")}`,
    processWithSession: () => null,
    descriptors: { limit: 1000, open: () => 16 },
    freeInodes: () => Infinity,
    prepareStart: (_starter, request) => ({ ok: true, value: { request, marks: {} } }),
    whyNeeded: () => null,
    signalNumber: () => null,
    journal: () => undefined,
    journalEnd: async () => undefined,
    advanced: () => undefined,
    changed: () => undefined,
    broke: () => undefined,
    agentChanged: () => undefined,
    ruleDecided: () => undefined,
    odd: () => undefined,
  }
}

/** What is done for sessions besides running them, where there is no git. */
export function scriptedSessions(
  keeper: Keeper,
  audited: AuditedKeeper,
  ports: KeeperPorts,
): { restarts: SessionRestarts; worktrees: Worktrees } {
  const audit = new NotedAudit()
  const { store } = ports
  const restarts = new SessionRestarts(keeper, { ...ports, audit })
  const planner = new Planner(keeperSettings.plan, ports)
  const runHelper = async () => fail("there is no git here")
  const worktrees = new Worktrees({ keeper, audited, store, keys: ports, planner, runHelper })
  return { restarts, worktrees }
}

function thereIsRoom(write: () => void): boolean {
  write()
  return true
}

const noDeliveries = {
  test: () => fail(failure("INVALID_PARAMS", "there is no target here")),
  report: () => ok({}),
  sync: async () => ok({ ordinal: 0 }),
}

const noTrials = {
  begin: () => Promise.reject(new Error("no trial is begun here")),
  renew: () => Promise.reject(new Error("no trial is renewed here")),
  end: () => Promise.reject(new Error("no trial is ended here")),
}

/** What nobody asks of it here. */
export const notAskedHere = { trials: noTrials, deliveries: noDeliveries }
