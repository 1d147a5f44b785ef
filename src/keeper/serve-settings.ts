import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import type { Config } from "../config.ts"
import type { AllowedProgram, Policy } from "../execution/policy.ts"
import type { ResourceLimits } from "../execution/spec.ts"
import type { Containment } from "../process/containment.ts"
import { programs } from "../process/programs.ts"
import type { ExecuteParams } from "../protocol/execute.ts"
import type { GatewaySettings } from "../protocol/ipc.ts"
import type { KeeperSettings } from "./keeper.ts"
import type { RetentionSettings } from "./retention.ts"
import type { StateDirectory } from "./state-directory.ts"

/** From SIGKILL to calling what is left a survivor. */
const killLimitMs = 5000

type ServiceSurroundings = {
  version: string
  env: Record<string, string | undefined>
  cwd: string
}

export function keeperSettings(
  config: Config,
  options: ServiceSurroundings,
  containment: Containment,
): KeeperSettings {
  return {
    maxExecutions: config.maxExecutions,
    maxQueue: config.maxQueue,
    plan: {
      shell: config.shell ?? (existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh"),
      policy: policyOf(config, options),
      baseEnv: childEnvironment(options.env),
      cwd: options.cwd,
      budget: { bytes: config.budgetBytes, lines: config.budgetLines, policy: config.budgetPolicy },
      wallTimeoutMs: config.wallTimeoutMs,
      idleTimeoutMs: config.idleTimeoutMs,
      limits: limitsOf(config),
      enforceable: containment.enforceable,
    },
    supervision: {
      graceMs: config.graceMs,
      killLimitMs,
      lingerMs: config.lingerMs,
      disconnectLeaseMs: config.disconnectLeaseMs,
      throttleBytesPerSecond: config.throttleBytesPerSecond ?? Infinity,
    },
  }
}

export function limitsOf(config: Config): ResourceLimits {
  return {
    memoryBytes: config.limitMemoryBytes,
    cpus: config.limitCpus,
    pids: config.limitPids,
  }
}

export function retentionSettings(config: Config): RetentionSettings {
  return {
    ageMs: config.retainAgeMs,
    totalBytes: config.retainBytes,
    recordsMs: config.retainRecordsMs,
    keysMs: config.retainKeysMs,
    diskFloorBytes: config.diskFloorBytes,
  }
}

function policyOf(config: Config, options: ServiceSurroundings): Policy {
  if (config.allowedCommands === null) return { kind: "everything" }
  const path = options.env["PATH"] ?? ""
  const allowed: AllowedProgram[] = []
  for (const name of config.allowedCommands) {
    const found = programs.locate(name, path, options.cwd)
    if (!found.ok) continue // what is not there cannot be run either
    allowed.push({ realPath: found.value.realPath, name: name.slice(name.lastIndexOf("/") + 1) })
  }
  return { kind: "allow-list", programs: allowed }
}

/** What steers this service, or the runtime it is made of, is not for the children. */
function childEnvironment(env: Record<string, string | undefined>): Record<string, string> {
  const own = /^(CC_EXECUTOR_|BUN_|NODE_CHANNEL|npm_)/
  const entries = Object.entries(env).filter(([name]) => !own.test(name))
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

export function gatewaySettings(
  config: Config,
  options: ServiceSurroundings,
  state: StateDirectory,
  instance: string,
  containment: Containment,
): GatewaySettings {
  return {
    stateDir: state.path,
    socketPath: state.socketPath,
    journalPath: state.journalPath,
    transcriptsPath: state.transcriptsPath,
    listen: { hosts: config.port === null ? [] : config.hosts, port: config.port ?? 0 },
    version: options.version,
    instance,
    maxSessions: config.maxSessions,
    streamTimeoutMs: config.streamTimeoutMs,
    maxMessageBytes: config.maxMessageBytes,
    logLevel: config.logLevel,
    containment: containment.mode,
  }
}

/**
 * The same for the same request, whatever the order of its fields. Whether a driver acknowledges
 * is no part of what is run: a repeat may come from one who does not.
 */
export function fingerprint(request: ExecuteParams): string {
  // How output travels is no part of what runs: a client may come back with another encoding.
  const { idempotency_key: _, acknowledges: __, encoding: ___, ...rest } = request
  return createHash("sha256").update(canonical(rest)).digest("hex")
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([name, one]) => `${JSON.stringify(name)}:${canonical(one)}`).join(",")}}`
}
