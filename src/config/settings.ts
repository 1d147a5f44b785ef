import { z } from "zod"
import { ContainmentMode } from "../execution/record.ts"
import { BudgetPolicy } from "../execution/spec.ts"
import { limitSettings } from "./limit-settings.ts"
import { listenSettings } from "./listen-settings.ts"
import { auditSettings, logSettings } from "./log-settings.ts"
import { policySettings } from "./policy-settings.ts"
import { type SettingFacts, setting, settingFacts } from "./setting.ts"
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

/**
 * Every setting there is. From here come the type of the configuration, its validation, the help
 * text and docs/configuration.md. A value's key says its unit; null is what a setting's
 * `none` or `any` means, and the shell's `auto`.
 */
export const Settings = z.object({
  ...listenSettings,

  shell: setting(autoOr(absolutePath()), {
    group: "Executions",
    flag: "shell",
    defaultText: "auto",
    example: "/bin/bash",
    description:
      "Shell for command lines with shell syntax; `auto` is /bin/bash if present, else /bin/sh.",
  }),
  ...policySettings,
  containment: setting(choice(["auto", ...ContainmentMode.options]), {
    group: "Executions",
    flag: "containment",
    defaultText: "auto",
    example: "cgroup",
    description: "How an execution's processes are tracked; `auto` is cgroup where that works.",
  }),
  maxExecutions: setting(count({ min: 1, max: 100_000 }), {
    group: "Executions",
    flag: "max-executions",
    defaultText: "64",
    description: "Executions running at once; further ones wait in the queue.",
  }),
  maxQueue: setting(count({ min: 0, max: 1_000_000 }), {
    group: "Executions",
    flag: "max-queue",
    defaultText: "1000",
    description: "Executions queued at once; further ones are refused with `AT_CAPACITY`.",
  }),
  wallTimeoutMs: setting(orNone(duration({ min: "1ms", max: year })), {
    group: "Executions",
    flag: "timeout",
    defaultText: "none",
    example: "2h",
    description: "Stops an execution after this much running time; a request may override it.",
  }),
  idleTimeoutMs: setting(orNone(duration({ min: "1ms", max: year })), {
    group: "Executions",
    flag: "idle-timeout",
    defaultText: "none",
    example: "30m",
    description:
      "Stops an execution after this long without input or output; a request may override it.",
  }),
  graceMs: setting(duration({ min: "0s", max: "1h" }), {
    group: "Executions",
    flag: "grace",
    defaultText: "5s",
    description: "Time between SIGTERM and SIGKILL when an execution is stopped.",
  }),
  lingerMs: setting(duration({ min: "0s", max: "1d" }), {
    group: "Executions",
    flag: "linger",
    defaultText: "2s",
    description:
      "Time for processes that a program leaves behind when it exits, before they are stopped.",
  }),
  disconnectLeaseMs: setting(duration({ min: "0s", max: "1d" }), {
    group: "Executions",
    flag: "disconnect-lease",
    defaultText: "10s",
    description: "Time to reconnect before an execution with `on_disconnect: cancel` is stopped.",
  }),
  limitMemoryBytes: setting(orNone(size({ min: "1M", max: petabyte })), {
    group: "Executions",
    flag: "limit-memory",
    defaultText: "none",
    example: "4GiB",
    description:
      "Memory per execution, or per process without cgroups; a request may ask for less.",
  }),
  limitCpus: setting(orNone(decimal({ min: 0.01, max: 4096 })), {
    group: "Executions",
    flag: "limit-cpus",
    defaultText: "none",
    example: "1.5",
    description: "Processors per execution; a request may ask for less; needs cgroups.",
  }),
  limitPids: setting(orNone(count({ min: 1, max: 4_194_304 })), {
    group: "Executions",
    flag: "limit-pids",
    defaultText: "none",
    example: "512",
    description:
      "Processes and threads per execution, or user without cgroups; a request may ask for less.",
  }),

  ...limitSettings,

  budgetBytes: setting(size({ min: "1k", max: petabyte }), {
    group: "Output",
    flag: "budget-bytes",
    bareVariable: "MAX_BUFFER_SIZE",
    defaultText: "1GiB",
    description: "Output kept per execution, both streams together.",
  }),
  budgetLines: setting(orNone(count({ min: 1, max: 1_000_000_000_000 })), {
    group: "Output",
    flag: "budget-lines",
    bareVariable: "MAX_BUFFER_LINES",
    defaultText: "none",
    example: "1000000",
    description: "Lines of output kept per execution.",
  }),
  budgetPolicy: setting(choice(BudgetPolicy.options), {
    group: "Output",
    flag: "budget-policy",
    defaultText: "drop-oldest",
    example: "block",
    description: "At the budget: drop the oldest output and count it, or make the program wait.",
  }),
  throttleBytesPerSecond: setting(orNone(size({ min: "64k", max: petabyte })), {
    group: "Output",
    flag: "throttle",
    defaultText: "64MiB",
    description: "Output read per second from an execution that has already dropped some.",
  }),
  redactFile: setting(orNone(absolutePath()), {
    group: "Output",
    flag: "redact-file",
    defaultText: "none",
    example: "/etc/cc-executor/redact",
    description: "A file of patterns, one per line, that must not reach the disk; read at startup.",
  }),

  stateDir: stateDirSetting,
  retainAgeMs: setting(duration({ min: "0s", max: century }), {
    group: "Disk",
    flag: "retain-age",
    defaultText: "7d",
    description: "Time the transcript of an ended execution is kept.",
  }),
  retainBytes: setting(size({ min: "0", max: petabyte }), {
    group: "Disk",
    flag: "retain-bytes",
    defaultText: "10GiB",
    description: "Room for the transcripts of ended executions; beyond it the oldest are removed.",
  }),
  retainRecordsMs: setting(duration({ min: "1d", max: century }), {
    group: "Disk",
    flag: "retain-records",
    defaultText: "90d",
    description: "Time the record and receipt of an ended execution are kept.",
  }),
  retainKeysMs: setting(duration({ min: "1d", max: year }), {
    group: "Disk",
    flag: "retain-keys",
    defaultText: "1d",
    example: "7d",
    description: "Time an idempotency key is remembered.",
  }),
  diskFloorBytes: setting(size({ min: "0", max: petabyte }), {
    group: "Disk",
    flag: "disk-floor",
    defaultText: "256MiB",
    example: "1GiB",
    description: "Free disk space to keep; below it, transcripts of ended executions are removed.",
  }),
  ballastBytes: setting(size({ min: "64k", max: "1G" }), {
    group: "Disk",
    flag: "ballast",
    defaultText: "1MiB",
    description:
      "Space held in reserve, so that the end of executions can be recorded on a full disk.",
  }),

  ...logSettings,
  ...auditSettings,

  shutdownGraceMs: setting(duration({ min: "0s", max: "1h" }), {
    group: "Lifetime",
    flag: "shutdown-grace",
    defaultText: "8s",
    description: "Time for all executions to stop when the service is asked to end.",
  }),
  exitWhenIdleMs: setting(orNone(duration({ min: "1s", max: year })), {
    group: "Lifetime",
    flag: "exit-when-idle",
    defaultText: "none",
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
    const variable = variablePrefix + facts.flag.toUpperCase().replaceAll("-", "_")
    return [{ ...facts, key, flag: `--${facts.flag}`, variable }]
  },
)
