import { z } from "zod"
import { ContainmentMode } from "../execution/record.ts"
import { BudgetPolicy } from "../execution/spec.ts"
import { fleetSettings } from "./fleet-settings.ts"
import { listenSettings } from "./listen-settings.ts"
import { notifySettings } from "./notify-settings.ts"
import { policySettings } from "./policy-settings.ts"
import { type SettingFacts, settingFacts, settingsIn } from "./setting.ts"
import { stateDirSetting } from "./state-dir.ts"
import {
  absolutePath,
  autoOr,
  choice,
  count,
  decimal,
  duration,
  orNone,
  size,
} from "./text-form.ts"

const year = "365d"
const century = "36500d"
const petabyte = "1024T"

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const
// The first generation was written in Python, and its settings still are.
const pythonLevels = { warning: "warn", critical: "fatal" } as const

const execution = settingsIn("Executions")
const limit = settingsIn("Limits")
const output = settingsIn("Output")
const disk = settingsIn("Disk")
const logs = settingsIn("Logs")
const lifetime = settingsIn("Lifetime")

/**
 * Every setting there is. From here come the type of the configuration, its validation, the help
 * text and docs/configuration.md. A value's key says its unit; null is what a setting's
 * `none` or `any` means, and the shell's `auto`.
 */
export const Settings = z.object({
  ...listenSettings,

  shell: execution(autoOr(absolutePath()), {
    defaultText: "auto",
    example: "/bin/bash",
    description:
      "Shell for command lines with shell syntax; `auto` is /bin/bash if present, else /bin/sh.",
  }),
  ...policySettings,
  containment: execution(choice(["auto", ...ContainmentMode.options]), {
    defaultText: "auto",
    example: "cgroup",
    description: "How an execution's processes are tracked; `auto` is cgroup where that works.",
  }),
  maxExecutions: execution(count({ min: 1, max: 100_000 }), {
    defaultText: "64",
    description: "Executions running at once; further ones wait in the queue.",
  }),
  maxQueue: execution(count({ min: 0, max: 1_000_000 }), {
    defaultText: "1000",
    description: "Executions queued at once; further ones are refused with `AT_CAPACITY`.",
  }),
  wallTimeoutMs: execution(orNone(duration({ min: "1ms", max: year })), {
    flag: "timeout",
    example: "2h",
    description: "Stops an execution after this much running time; a request may override it.",
  }),
  idleTimeoutMs: execution(orNone(duration({ min: "1ms", max: year })), {
    example: "30m",
    description:
      "Stops an execution after this long without input or output; a request may override it.",
  }),
  graceMs: execution(duration({ min: "0s", max: "1h" }), {
    defaultText: "5s",
    description: "Time between SIGTERM and SIGKILL when an execution is stopped.",
  }),
  lingerMs: execution(duration({ min: "0s", max: "1d" }), {
    defaultText: "2s",
    description:
      "Time for processes that a program leaves behind when it exits, before they are stopped.",
  }),
  disconnectLeaseMs: execution(duration({ min: "0s", max: "1d" }), {
    defaultText: "10s",
    description: "Time to reconnect before an execution with `on_disconnect: cancel` is stopped.",
  }),
  limitMemoryBytes: execution(orNone(size({ min: "1M", max: petabyte })), {
    flag: "limit-memory",
    example: "4GiB",
    description:
      "Memory per execution, or per process without cgroups; a request may ask for less.",
  }),
  limitCpus: execution(orNone(decimal({ min: 0.01, max: 4096 })), {
    example: "1.5",
    description: "Processors per execution; a request may ask for less; needs cgroups.",
  }),
  limitPids: execution(orNone(count({ min: 1, max: 4_194_304 })), {
    example: "512",
    description:
      "Processes and threads per execution, or user without cgroups; a request may ask for less.",
  }),

  // Those of one principal do not bind who has the scope `admin`, as the local user does.
  maxExecutionsPerPrincipal: limit(count({ min: 1, max: 100_000 }), {
    defaultText: "16",
    description: "Executions one principal may run at once; further ones wait. Admins are exempt.",
  }),
  maxQueuePerPrincipal: limit(count({ min: 0, max: 1_000_000 }), {
    defaultText: "100",
    description:
      "Executions one principal may queue at once, then `AT_CAPACITY`. Admins are exempt.",
  }),
  startsPerMinute: limit(count({ min: 1, max: 1_000_000_000 }), {
    defaultText: "600",
    description: "Starts one principal may request, then `RATE_LIMITED`. Admins are exempt.",
  }),
  retainBytesPerPrincipal: limit(size({ min: "1k", max: petabyte }), {
    defaultText: "2GiB",
    description: "Room for one principal's transcripts; the oldest are removed. Admins are exempt.",
  }),
  maxWallTimeoutMs: limit(orNone(duration({ min: "1ms", max: year })), {
    flag: "max-timeout",
    example: "1d",
    description: "The longest timeout a request may ask for, and the one used if it asks for none.",
  }),
  maxOutputBytes: limit(orNone(size({ min: "1", max: petabyte })), {
    example: "100GiB",
    description:
      "Total output an execution may write, kept or not; beyond it, the execution is stopped.",
  }),
  maxDiskBytes: limit(orNone(size({ min: "1k", max: petabyte })), {
    example: "50GiB",
    description:
      "Room for all transcripts, live and ended; ended ones are removed, then starts refused.",
  }),

  budgetBytes: output(size({ min: "1k", max: petabyte }), {
    bareVariable: "MAX_BUFFER_SIZE",
    defaultText: "1GiB",
    description: "Output kept per execution, both streams together.",
  }),
  budgetLines: output(orNone(count({ min: 1, max: 1_000_000_000_000 })), {
    bareVariable: "MAX_BUFFER_LINES",
    example: "1000000",
    description: "Lines of output kept per execution.",
  }),
  budgetPolicy: output(choice(BudgetPolicy.options), {
    defaultText: "drop-oldest",
    example: "block",
    description: "At the budget: drop the oldest output and count it, or make the program wait.",
  }),
  throttleBytesPerSecond: output(orNone(size({ min: "64k", max: petabyte })), {
    flag: "throttle",
    defaultText: "64MiB",
    description: "Output read per second from an execution that has already dropped some.",
  }),
  redactFile: output(orNone(absolutePath()), {
    example: "/etc/cc-executor/redact",
    description: "A file of patterns, one per line, that must not reach the disk; read at startup.",
  }),

  stateDir: stateDirSetting,
  retainAgeMs: disk(duration({ min: "0s", max: century }), {
    defaultText: "7d",
    description: "Time the transcript of an ended execution is kept.",
  }),
  retainBytes: disk(size({ min: "0", max: petabyte }), {
    defaultText: "10GiB",
    description: "Room for the transcripts of ended executions; beyond it the oldest are removed.",
  }),
  retainRecordsMs: disk(duration({ min: "1d", max: century }), {
    defaultText: "90d",
    description: "Time the record and receipt of an ended execution are kept.",
  }),
  retainKeysMs: disk(duration({ min: "1d", max: year }), {
    defaultText: "1d",
    example: "7d",
    description: "Time an idempotency key is remembered.",
  }),
  diskFloorBytes: disk(size({ min: "0", max: petabyte }), {
    flag: "disk-floor",
    defaultText: "256MiB",
    example: "1GiB",
    description: "Free disk space to keep; below it, transcripts of ended executions are removed.",
  }),
  ballastBytes: disk(size({ min: "64k", max: "1G" }), {
    flag: "ballast",
    defaultText: "1MiB",
    description:
      "Space held in reserve, so that the end of executions can be recorded on a full disk.",
  }),

  ...notifySettings,
  ...fleetSettings,

  logLevel: logs(choice(logLevels, pythonLevels), {
    bareVariable: "LOG_LEVEL",
    defaultText: "info",
    example: "debug",
    description: "The lowest level that is logged.",
  }),
  logFormat: logs(choice(["auto", "json", "pretty"]), {
    defaultText: "auto",
    example: "json",
    description:
      "JSON, one object per line, or readable text; `auto` is pretty on a terminal only.",
  }),
  logFile: logs(orNone(absolutePath()), {
    example: "/var/log/cc-executor/cc-executor.log",
    description: "Logs to this file instead of standard output.",
  }),
  logFileBytes: logs(size({ min: "4k", max: "1T" }), {
    flag: "log-file-size",
    defaultText: "10MiB",
    description: "Rotates the log file before it grows beyond this.",
  }),
  logFiles: logs(count({ min: 1, max: 1000 }), {
    defaultText: "5",
    description: "Rotated log files kept beside the current one.",
  }),
  auditFileBytes: logs(size({ min: "64k", max: "1G" }), {
    flag: "audit-file-size",
    defaultText: "16MiB",
    description: "Starts a new audit file before the current one grows beyond this.",
  }),
  auditFiles: logs(count({ min: 2, max: 1_000_000 }), {
    defaultText: "64",
    description: "Audit files kept; beyond that, the oldest is removed.",
  }),

  shutdownGraceMs: lifetime(duration({ min: "0s", max: "1h" }), {
    defaultText: "8s",
    description: "Time for all executions to stop when the service is asked to end.",
  }),
  exitWhenIdleMs: lifetime(orNone(duration({ min: "1s", max: year })), {
    example: "10m",
    description: "Ends the service after this long without executions or clients.",
  }),
})

/** A setting as help and documentation show it. */
export type Setting = Omit<SettingFacts, "flag"> & {
  key: string
  /** `--host` */
  flag: string
  /** `CC_EXECUTOR_HOST` */
  variable: string
}

export const variablePrefix = "CC_EXECUTOR_"

export const settings: readonly Setting[] = Object.entries(Settings.shape).flatMap(
  ([key, schema]) => {
    const facts = settingFacts.get(schema)
    if (facts === undefined) return []
    const { flag = flagOf(key) } = facts
    const variable = variablePrefix + flag.toUpperCase().replaceAll("-", "_")
    return [{ ...facts, key, flag: `--${flag}`, variable }]
  },
)

/** `retainAgeMs` is `retain-age`: who gives a duration says its unit. */
function flagOf(key: string): string {
  return key.replace(/Ms$/, "").replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
