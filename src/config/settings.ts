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
      "Runs command lines with shell syntax; `auto` is /bin/bash if there is one, else /bin/sh.",
  }),
  ...policySettings,
  containment: setting(choice(["auto", ...ContainmentMode.options]), {
    group: "Executions",
    flag: "containment",
    defaultText: "auto",
    example: "cgroup",
    description:
      "How an execution's processes are kept together; `auto` is cgroup where that works.",
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
    description: "Executions waiting at once; one more is refused with `AT_CAPACITY`.",
  }),
  wallTimeoutMs: setting(orNone(duration({ min: "1ms", max: year })), {
    group: "Executions",
    flag: "timeout",
    defaultText: "none",
    example: "2h",
    description: "Stops an execution after so much running time; a request may say otherwise.",
  }),
  idleTimeoutMs: setting(orNone(duration({ min: "1ms", max: year })), {
    group: "Executions",
    flag: "idle-timeout",
    defaultText: "none",
    example: "30m",
    description:
      "Stops an execution after so long without a byte in or out; a request may say otherwise.",
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
    description: "Time for what a program left running when it exited, before it is stopped too.",
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
      "Memory an execution may use, or each process of it without cgroups; a request may say less.",
  }),
  limitCpus: setting(orNone(decimal({ min: 0.01, max: 4096 })), {
    group: "Executions",
    flag: "limit-cpus",
    defaultText: "none",
    example: "1.5",
    description: "Processors an execution may keep busy; a request may say less; needs cgroups.",
  }),
  limitPids: setting(orNone(count({ min: 1, max: 4_194_304 })), {
    group: "Executions",
    flag: "limit-pids",
    defaultText: "none",
    example: "512",
    description:
      "Processes and threads it may have, or its user without cgroups; a request may say less.",
  }),

  ...limitSettings,

  budgetBytes: setting(size({ min: "1k", max: petabyte }), {
    group: "Output",
    flag: "budget-bytes",
    bareVariable: "MAX_BUFFER_SIZE",
    defaultText: "1GiB",
    description: "Output an execution may retain, both streams together.",
  }),
  budgetLines: setting(orNone(count({ min: 1, max: 1_000_000_000_000 })), {
    group: "Output",
    flag: "budget-lines",
    bareVariable: "MAX_BUFFER_LINES",
    defaultText: "none",
    example: "1000000",
    description: "Lines of output an execution may retain.",
  }),
  budgetPolicy: setting(choice(BudgetPolicy.options), {
    group: "Output",
    flag: "budget-policy",
    defaultText: "drop-oldest",
    example: "block",
    description: "At the budget: forget the oldest output, counted, or let the program wait.",
  }),
  throttleBytesPerSecond: setting(orNone(size({ min: "64k", max: petabyte })), {
    group: "Output",
    flag: "throttle",
    defaultText: "64MiB",
    description: "Output read per second of an execution that has already dropped some.",
  }),
  redactFile: setting(orNone(absolutePath()), {
    group: "Output",
    flag: "redact-file",
    defaultText: "none",
    example: "/etc/cc-executor/redact",
    description: "Patterns, one a line, of what must not reach the disk; read at the start.",
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
    description: "Room for the transcripts of ended executions; past it the oldest go.",
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
    description: "Free space left on the disk; below it, transcripts of ended executions go first.",
  }),
  ballastBytes: setting(size({ min: "64k", max: "1G" }), {
    group: "Disk",
    flag: "ballast",
    defaultText: "1MiB",
    description: "Space held in reserve, so that ends can be recorded on a full disk.",
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
    description: "Ends the service after so long without executions and without clients.",
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
