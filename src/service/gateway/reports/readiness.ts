import type { FleetTrouble } from "../../../fleet/fleet-trouble.ts"
import type { Obstacle } from "../../../protocol/ipc.ts"

type Explained = Record<string, { message: string; action: string; passes: boolean }>

/** Why the service takes no work, by a name that stays. Anybody may ask, so no path is named. */
export const unreadinessReasons = {
  "shutting-down": {
    message: "The service is shutting down.",
    action: "Start nothing new; reconnect once it has restarted.",
    passes: false,
  },
  "keeper-busy": {
    message: "The process that runs executions does not answer.",
    action: "Wait a moment; if it persists, check the CPU, the disk and the log of the service.",
    passes: false,
  },
  "disk-full": {
    message: "The disk of the state directory is full: nothing can be started or recorded.",
    action: "Free space there, for example with `cc-executor prune`.",
    passes: false,
  },
  "inodes-used-up": {
    message: "The disk of the state directory has space but no inodes left: nothing is started.",
    action: "Remove files there, for example with `cc-executor prune`.",
    passes: false,
  },
  "transcripts-full": {
    message: "Running executions have used up the room for transcripts: nothing new is started.",
    action: "Wait for one to end, cancel some, or raise --max-disk-bytes.",
    passes: true,
  },
  "queue-full": {
    message: "Every slot is taken and the queue is full: nothing new is started.",
    action: "Wait for an execution to end, cancel some, or raise --max-executions or --max-queue.",
    passes: true,
  },
  "descriptors-used-up": {
    message: "The service has too few file descriptors left: nothing new is started.",
    action: "Wait for an execution to end, or raise the limit with `ulimit -n` or LimitNOFILE.",
    passes: true,
  },
  "gateway-restarts": {
    message: "The process that serves clients died more than five times in a minute.",
    action: "Find the last `gateway ended` in the log of the service: it says how.",
    passes: false,
  },
  "tokens-unreadable": {
    message: "The token file cannot be used, so no token is accepted.",
    action: "Run `cc-executor doctor` as the service's user to see what is wrong with it.",
    passes: false,
  },
  "certificate-expired": {
    message: "The TLS certificate has expired: clients refuse it.",
    action: "Replace the files of --tls-cert and --tls-key; they are loaded without a restart.",
    passes: false,
  },
  "fleet-engine-unreachable": {
    message:
      "The engine of the fleet cannot be reached: nothing new is started; what runs goes on.",
    action: "Check the NATS servers named by --fleet, and the network to them.",
    passes: true,
  },
  "fleet-engine-unsafe": {
    message: "The engine of the fleet may lose what it has acknowledged, so it is not used.",
    action: "Run `cc-executor doctor` to see what it needs, or use --fleet-unsafe to try it out.",
    passes: false,
  },
  "fleet-not-joined": {
    message: "This node has not joined its fleet: nothing new is started.",
    action: "Wait a moment; if it persists, look for `fleet` in the log of the service.",
    passes: true,
  },
  "fleet-name-taken": {
    message: "Another service has joined the fleet by the name of this node.",
    action: "Give each node a name of its own with --node-name, and start this one again.",
    passes: false,
  },
  "fleet-forgotten": {
    message: "This node was forgotten by its fleet.",
    action: "Take it back with `cc-executor node undrain`, at another node.",
    passes: false,
  },
} as const satisfies Explained & Record<Obstacle | FleetTrouble, Explained[string]>

export type UnreadinessName = keyof typeof unreadinessReasons
export type Unready = { name: UnreadinessName } & Explained[string]

export type ReadinessSources = {
  isDraining: () => boolean
  /** Null when the keeper does not answer. */
  obstacles: () => Promise<readonly Obstacle[] | null>
  tokensAreReadable: () => boolean
  /** Of the certificate in use; null without TLS. */
  certificateExpiresAt: () => Date | null
  now: () => Date
  /** None for a service of its own. */
  fleetTroubles: () => readonly FleetTrouble[]
}

/** All that is wrong, the most pressing first; empty when the service takes work. */
export async function findUnreadiness(sources: ReadinessSources): Promise<Unready[]> {
  // A keeper that ends its executions may be slow to answer, and there is nothing to ask it.
  const obstacles = sources.isDraining() ? [] : await sources.obstacles()
  const expiresAt = sources.certificateExpiresAt()
  const isExpired = expiresAt !== null && expiresAt <= sources.now()
  const names: UnreadinessName[] = [
    ...(sources.isDraining() ? ["shutting-down" as const] : []),
    ...(obstacles ?? ["keeper-busy" as const]),
    ...(sources.tokensAreReadable() ? [] : ["tokens-unreadable" as const]),
    ...(isExpired ? ["certificate-expired" as const] : []),
    ...sources.fleetTroubles(),
  ]
  return names.map((name) => ({ name, ...unreadinessReasons[name] }))
}
