import { z } from "zod"
import { ContainmentMode } from "../execution/record.ts"
import { BudgetPolicy } from "../execution/spec.ts"
import { allowedCommands } from "./allowed-commands.ts"
import { listenHosts } from "./listen-hosts.ts"
import { setting } from "./setting.ts"
import {
  absolutePath,
  autoOr,
  boolean,
  choice,
  count,
  decimal,
  duration,
  orNone,
  size,
} from "./text-form.ts"

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const
// The first generation was written in Python, and its settings still are.
const pythonLevels = { warning: "warn", critical: "fatal" } as const

const year = "365d"
const century = "36500d"
const petabyte = "1024T"

/**
 * Every setting there is. From here come the type of the configuration, its validation, the help
 * text and docs/configuration.md. A value's key says its unit; null is what a setting's
 * `none` or `any` means, and the shell's `auto`.
 */
export const Settings = z.object({
  hosts: setting(listenHosts(), {
    group: "Listening",
    flag: "host",
    defaultText: "localhost",
    example: "127.0.0.1",
    description: "Addresses to listen on; `localhost` is both 127.0.0.1 and ::1.",
  }),
  port: setting(orNone(count({ min: 0, max: 65_535 })), {
    group: "Listening",
    flag: "port",
    defaultText: "8003",
    description: "TCP port; 0 takes a free one, `none` listens on the unix socket only.",
  }),
  allowUnauthenticatedNetwork: setting(boolean(), {
    group: "Listening",
    flag: "allow-unauthenticated-network",
    defaultText: "false",
    example: "true",
    description: "Permits addresses that others can reach: whoever connects may run commands.",
  }),
  maxSessions: setting(count({ min: 1, max: 100_000 }), {
    group: "Listening",
    flag: "max-sessions",
    bareVariable: "MAX_SESSIONS",
    defaultText: "100",
    description: "WebSocket sessions open at once; one more is refused with `SESSION_LIMIT`.",
  }),
  streamTimeoutMs: setting(duration({ min: "1s", max: year }), {
    group: "Listening",
    flag: "stream-timeout",
    bareVariable: "STREAM_TIMEOUT",
    defaultText: "5m",
    description: "Closes a session that has not answered pings for so long; silence is no reason.",
  }),
  maxMessageBytes: setting(size({ min: "64k", max: "1G" }), {
    group: "Listening",
    flag: "max-message-bytes",
    defaultText: "8MiB",
    description: "The largest message or request body a client may send.",
  }),

  shell: setting(autoOr(absolutePath()), {
    group: "Executions",
    flag: "shell",
    defaultText: "auto",
    example: "/bin/bash",
    description:
      "Runs command lines with shell syntax; `auto` is /bin/bash if there is one, else /bin/sh.",
  }),
  allowedCommands: setting(allowedCommands(), {
    group: "Executions",
    flag: "allowed-commands",
    bareVariable: "ALLOWED_COMMANDS",
    defaultText: "any",
    example: "claude,git,/usr/bin/make",
    description: "The only programs that may be executed, by name or path; `any` is all.",
  }),
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
    description: "Memory an execution may use; a request may say otherwise; needs cgroups.",
  }),
  limitCpus: setting(orNone(decimal({ min: 0.01, max: 4096 })), {
    group: "Executions",
    flag: "limit-cpus",
    defaultText: "none",
    example: "1.5",
    description:
      "Processors an execution may keep busy; a request may say otherwise; needs cgroups.",
  }),
  limitPids: setting(orNone(count({ min: 1, max: 4_194_304 })), {
    group: "Executions",
    flag: "limit-pids",
    defaultText: "none",
    example: "512",
    description: "Processes and threads it may have; a request may say otherwise; needs cgroups.",
  }),

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

  stateDir: setting(absolutePath(), {
    group: "Disk",
    flag: "state-dir",
    defaultText: "~/.local/state/cc-executor",
    example: "/var/lib/cc-executor",
    description: "Journal, transcripts, key, unix socket; the default heeds `$XDG_STATE_HOME`.",
  }),
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

  logLevel: setting(choice(logLevels, pythonLevels), {
    group: "Logs",
    flag: "log-level",
    bareVariable: "LOG_LEVEL",
    defaultText: "info",
    example: "debug",
    description: "The least important lines that are written.",
  }),
  logFormat: setting(choice(["auto", "json", "pretty"]), {
    group: "Logs",
    flag: "log-format",
    defaultText: "auto",
    example: "json",
    description: "One JSON object a line, or text for people; `auto` is pretty on a terminal only.",
  }),
  logFile: setting(orNone(absolutePath()), {
    group: "Logs",
    flag: "log-file",
    defaultText: "none",
    example: "/var/log/cc-executor/cc-executor.log",
    description: "A file that gets the lines instead of standard output.",
  }),
  logFileBytes: setting(size({ min: "4k", max: "1T" }), {
    group: "Logs",
    flag: "log-file-size",
    defaultText: "10MiB",
    description: "The log file is rotated before it grows beyond this.",
  }),
  logFiles: setting(count({ min: 1, max: 1000 }), {
    group: "Logs",
    flag: "log-files",
    defaultText: "5",
    description: "Rotated log files kept beside the current one.",
  }),

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
