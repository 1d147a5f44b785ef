import { setting } from "./setting.ts"
import { absolutePath, choice, count, orNone, size } from "./text-form.ts"

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const
// The first generation was written in Python, and its settings still are.
const pythonLevels = { warning: "warn", critical: "fatal" } as const

export const logSettings = {
  logLevel: setting(choice(logLevels, pythonLevels), {
    group: "Logs",
    flag: "log-level",
    bareVariable: "LOG_LEVEL",
    defaultText: "info",
    example: "debug",
    description: "The lowest level that is logged.",
  }),
  logFormat: setting(choice(["auto", "json", "pretty"]), {
    group: "Logs",
    flag: "log-format",
    defaultText: "auto",
    example: "json",
    description:
      "JSON, one object per line, or readable text; `auto` is pretty on a terminal only.",
  }),
  logFile: setting(orNone(absolutePath()), {
    group: "Logs",
    flag: "log-file",
    defaultText: "none",
    example: "/var/log/cc-executor/cc-executor.log",
    description: "Logs to this file instead of standard output.",
  }),
  logFileBytes: setting(size({ min: "4k", max: "1T" }), {
    group: "Logs",
    flag: "log-file-size",
    defaultText: "10MiB",
    description: "Rotates the log file before it grows beyond this.",
  }),
  logFiles: setting(count({ min: 1, max: 1000 }), {
    group: "Logs",
    flag: "log-files",
    defaultText: "5",
    description: "Rotated log files kept beside the current one.",
  }),
}

/** How much of the audit trail is kept. */
export const auditSettings = {
  auditFileBytes: setting(size({ min: "64k", max: "1G" }), {
    group: "Logs",
    flag: "audit-file-size",
    defaultText: "16MiB",
    description: "Starts a new audit file before the current one grows beyond this.",
  }),
  auditFiles: setting(count({ min: 2, max: 1_000_000 }), {
    group: "Logs",
    flag: "audit-files",
    defaultText: "64",
    description: "Audit files kept; beyond that, the oldest is removed.",
  }),
}
