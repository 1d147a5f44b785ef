import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { hostname } from "node:os"
import type { Config } from "../../../config/config.ts"
import {
  commandTarget,
  commandTargetName,
  type NotifyFile,
  readNotifyFile,
} from "../../../config/notify-file.ts"
import { descriptorsFor } from "../../../execution/descriptor-needs.ts"
import type { NotifySettings } from "../../../execution/notify-target.ts"
import type { ResourceLimits } from "../../../execution/spec.ts"
import { canonicalText } from "../../../lib/canonical-text.ts"
import { isErrno } from "../../../lib/errno.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { AgentOptions } from "../../../protocol/agent.ts"
import type { ExecuteParams } from "../../../protocol/execute.ts"
import type { FleetSettings } from "../../../protocol/fleet-settings.ts"
import type { GatewaySettings } from "../../../protocol/gateway-settings.ts"
import type { AuditLogSettings } from "../../audit/audit-log.ts"
import { wayProblem } from "../../gateway/notifications/read-source.ts"
import type { Containment } from "../../os/trees/containment.ts"
import { type Redaction, readPatternFile } from "../../redaction/redaction.ts"
import type { StateDirectory } from "../../storage/state-directory.ts"
import type { DiskSettings } from "../admission/disk-use.ts"
import type { RetentionSettings } from "../housekeeping/retention.ts"
import type { KeeperSettings } from "../keeper-ports.ts"
import type { LaunchRules } from "../starting/allowed-launch.ts"
import { unenforceable, whatItNeeds } from "../starting/planned-limits.ts"
import { runsIn } from "./runs-in.ts"

/** From SIGKILL to calling what is left a survivor. */
const killLimitMs = 5000

type ServiceSurroundings = Pick<GatewaySettings, "version" | "startedAt" | "policy"> & {
  containment: Pick<Containment, "mode" | "why" | "holders">
  self: readonly string[]
}

export function keeperSettings(
  config: Config,
  rules: () => LaunchRules,
  containment: Containment,
): KeeperSettings {
  const { graceMs, lingerMs, disconnectLeaseMs, throttleBytesPerSecond } = config
  const limits = {
    limits: limitsOf(config),
    holders: containment.holders,
    maxWallTimeoutMs: config.maxWallTimeoutMs ?? Infinity,
    maxOutputBytes: config.maxOutputBytes ?? Infinity,
    retainBytesPerPrincipal: config.retainBytesPerPrincipal,
  }
  return {
    ...config,
    ...diskSettings(config),
    plan: () => ({ ...rules(), ...requestDefaults(config), ...limits }),
    supervision: {
      graceMs,
      killLimitMs,
      lingerMs,
      disconnectLeaseMs,
      throttleBytesPerSecond: throttleBytesPerSecond ?? Infinity,
    },
  }
}

/** What holds where a request says nothing of it. */
export function requestDefaults(config: Config) {
  const { budgetBytes: bytes, budgetLines: lines, budgetPolicy: policy } = config
  const { wallTimeoutMs, idleTimeoutMs } = config
  return { budget: { bytes, lines, policy }, wallTimeoutMs, idleTimeoutMs }
}

/** Why the service cannot hold executions to what it is configured for; null when it can. */
export function limitNotHeld(config: Config, { holders }: Containment): string | null {
  const unheld = unenforceable(limitsOf(config), holders)
  if (unheld === null) return null
  const flag = unheld === "cpu" ? "cpus" : unheld
  const why = `${whatItNeeds[unheld]} (see \`cc-executor doctor\`)`
  return `The limit --limit-${flag} cannot be enforced: ${why}.`
}

function limitsOf(config: Config): ResourceLimits {
  return {
    memoryBytes: config.limitMemoryBytes,
    cpus: config.limitCpus,
    pids: config.limitPids,
  }
}

function diskSettings({ maxDiskBytes, retainBytesPerPrincipal }: Config): DiskSettings {
  return { maxDiskBytes: maxDiskBytes ?? Infinity, retainBytesPerPrincipal }
}

export function retentionSettings(config: Config): RetentionSettings {
  return {
    ageMs: config.retainAgeMs,
    totalBytes: config.retainBytes,
    recordsMs: config.retainRecordsMs,
    keysMs: config.retainKeysMs,
    diskFloorBytes: config.diskFloorBytes,
    ...diskSettings(config),
  }
}

export function auditSettings(config: Config, state: StateDirectory): AuditLogSettings {
  return {
    directory: state.paths.audit,
    fileBytes: config.auditFileBytes,
    files: config.auditFiles,
  }
}

/** Who is told of what; null where nobody is. What is wrong with a file says where, and why. */
export function notifySettingsOf(config: Config): Result<NotifySettings | null, string> {
  const { notifyFile, notifyCommand } = config
  if (notifyFile === null && notifyCommand === null) return ok(null)
  const file = notifyFile === null ? ok({ baseUrl: null, targets: [] }) : readTargets(notifyFile)
  if (!file.ok) return file
  const { baseUrl, targets } = file.value
  if (notifyCommand === null) return ok({ baseUrl, targets })
  if (targets.some(({ name }) => name === commandTargetName)) {
    const both = `--notify-command and the target ${commandTargetName} in ${notifyFile}`
    return fail(`${both} have the same name: rename the target.`)
  }
  return ok({ baseUrl, targets: [...targets, commandTarget(notifyCommand)] })
}

function readTargets(path: string): Result<NotifyFile, string> {
  const text = readText(path)
  if (!text.ok) return fail(`--notify-file could not be read: ${text.failure}.`)
  const file = readNotifyFile(text.value)
  if (!file.ok) return fail(`--notify-file ${path} cannot be used: ${file.failure}.`)
  for (const { name, way } of file.value.targets) {
    const problem = wayProblem(way)
    if (problem !== null) return fail(`--notify-file ${path}, target ${name}: ${problem}.`)
  }
  return file
}

/** The user's patterns; null where there are none. What is wrong with them says where, and why. */
export function redactionOf({ redactFile }: Config): Result<Redaction | null, string> {
  if (redactFile === null) return ok(null)
  const text = readText(redactFile)
  if (!text.ok) return fail(`The patterns to redact could not be read: ${text.failure}.`)
  const redaction = readPatternFile(text.value)
  if (redaction.ok) return redaction
  return fail(`--redact-file ${redactFile}, ${redaction.failure.join("; ")}.`)
}

function readText(path: string): Result<string, string> {
  try {
    return ok(readFileSync(path, "utf8"))
  } catch (error) {
    const isExpected = isErrno(error, "ENOENT", "EACCES", "EISDIR", "ENOTDIR")
    if (!isExpected || !(error instanceof Error)) throw error
    return fail(error.message)
  }
}

export function gatewaySettings(
  config: Config,
  options: ServiceSurroundings,
  state: StateDirectory,
  handedPort: number | null,
  notify: NotifySettings | null,
): GatewaySettings {
  return {
    stateDir: state.path,
    socketPath: state.paths.socket,
    journalPath: state.paths.journal,
    transcriptsPath: state.paths.transcripts,
    listen: listenSettings(config, handedPort),
    clientCertScopes: config.clientCertScopes,
    version: options.version,
    startedAt: options.startedAt,
    containment: options.containment.mode,
    containmentWhy: options.containment.why,
    limitsHeldBy: options.containment.holders,
    neededOpenFiles: descriptorsFor(config.maxExecutions),
    access: {
      trustsLoopback: trustsLoopback(config, options.policy),
      ownUid: process.getuid?.() ?? 0,
      acceptedTokens: acceptedTokensOf(config),
      allowedHosts: config.allowedHosts ?? [],
      allowedOrigins: config.allowedOrigins ?? [],
      maxConnectionsPerAddress: config.maxConnectionsPerAddress,
      messagesPerSecond: config.messagesPerSecond,
      requestTimeoutMs: config.requestTimeoutMs,
      runsIn: runsIn(config),
    },
    maxSessions: config.maxSessions,
    maxSessionsPerPrincipal: config.maxSessionsPerPrincipal,
    streamTimeoutMs: config.streamTimeoutMs,
    maxMessageBytes: config.maxMessageBytes,
    logLevel: config.logLevel,
    policy: options.policy,
    runAs: config.runAs,
    notify,
    fleet: fleetSettingsOf(config),
    servesConsole: !config.noConsole,
    preloadMcp: config.preloadMcp,
    self: [...options.self],
  }
}

export function listenSettings(
  config: Config,
  handedPort: number | null,
): GatewaySettings["listen"] {
  return {
    hosts: config.port === null ? [] : config.hosts,
    // One that the system had chosen stays; one that was asked for is what was asked for.
    port: config.port === 0 ? (handedPort ?? 0) : (config.port ?? 0),
    tls: tlsFiles(config),
  }
}

export function acceptedTokensOf(config: Config): GatewaySettings["access"]["acceptedTokens"] {
  const { acceptTokenFile: path, acceptTokenScopes: scopes } = config
  return path === null ? null : { path, scopes }
}

export function tlsFiles(config: Config): GatewaySettings["listen"]["tls"] {
  const { port, tlsCert: cert, tlsKey: key, tlsClientCa: clientCa } = config
  return port === null || cert === null || key === null ? null : { cert, key, clientCa }
}

/** Null for a service of its own; what must come with `--fleet` was checked with the rest. */
function fleetSettingsOf(config: Config): FleetSettings | null {
  const { fleet: servers, advertise, fleetCa: ca, fleetCert: cert, fleetKey: key } = config
  if (servers === null || advertise === null) return null
  if (ca === null || cert === null || key === null) return null
  return {
    servers,
    node: config.nodeName ?? nodeNameOf(hostname()),
    labels: config.nodeLabels ?? {},
    advertise,
    ca,
    cert,
    key,
    credentials: config.fleetCredentials,
    lostAfterMs: config.fleetLostAfterMs,
    unsafe: config.fleetUnsafe,
    slots: config.maxExecutions,
  }
}

/** The host's name, without what a node's name must not have. */
function nodeNameOf(host: string): string {
  const [first = ""] = host.toLowerCase().split(".")
  const plain = first.replaceAll(/[^a-z0-9-]+/g, "-").slice(0, 63)
  return plain.replaceAll(/^-+|-+$/g, "") || "node"
}

/** What runs under an allow-list as this very user could come back by the port, as its owner. */
function trustsLoopback(config: Config, policy: GatewaySettings["policy"]): boolean {
  const couldComeBack = policy === "allow-list" && config.runAs === null
  return !couldComeBack && !config.requireToken
}

/**
 * The same for the same request, whatever the order of its fields. Whether a driver acknowledges
 * is no part of what is run: a repeat may come from one who does not.
 */
export function fingerprint(request: ExecuteParams, agent: AgentOptions | null): string {
  // How output travels is no part of what runs: a client may come back with another encoding.
  const { idempotency_key: _, acknowledges: __, encoding: ___, ...what } = request
  const { on: ____, placed: _____, ...rest } = what // where it runs is no part of it either
  const asked = agent === null ? rest : { ...rest, agent }
  return createHash("sha256").update(canonicalText(asked)).digest("hex")
}
