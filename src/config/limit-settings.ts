import { setting } from "./setting.ts"
import { count, duration, orNone, size } from "./text-form.ts"

const year = "365d"
const petabyte = "1024T"

/**
 * How much one principal may have, and how much anybody. Those of one principal do not bind who has
 * the scope `admin`, as the local user does.
 */
export const limitSettings = {
  maxExecutionsPerPrincipal: setting(count({ min: 1, max: 100_000 }), {
    group: "Limits",
    flag: "max-executions-per-principal",
    defaultText: "16",
    description: "Executions one principal may run at once; further ones wait. Admins are exempt.",
  }),
  maxQueuePerPrincipal: setting(count({ min: 0, max: 1_000_000 }), {
    group: "Limits",
    flag: "max-queue-per-principal",
    defaultText: "100",
    description:
      "Executions one principal may queue at once, then `AT_CAPACITY`. Admins are exempt.",
  }),
  startsPerMinute: setting(count({ min: 1, max: 1_000_000_000 }), {
    group: "Limits",
    flag: "starts-per-minute",
    defaultText: "600",
    description: "Starts one principal may request, then `RATE_LIMITED`. Admins are exempt.",
  }),
  retainBytesPerPrincipal: setting(size({ min: "1k", max: petabyte }), {
    group: "Limits",
    flag: "retain-bytes-per-principal",
    defaultText: "2GiB",
    description: "Room for one principal's transcripts; the oldest are removed. Admins are exempt.",
  }),
  maxWallTimeoutMs: setting(orNone(duration({ min: "1ms", max: year })), {
    group: "Limits",
    flag: "max-timeout",
    defaultText: "none",
    example: "1d",
    description: "The longest timeout a request may ask for, and the one used if it asks for none.",
  }),
  maxOutputBytes: setting(orNone(size({ min: "1", max: petabyte })), {
    group: "Limits",
    flag: "max-output-bytes",
    defaultText: "none",
    example: "100GiB",
    description:
      "Total output an execution may write, kept or not; beyond it, the execution is stopped.",
  }),
  maxDiskBytes: setting(orNone(size({ min: "1k", max: petabyte })), {
    group: "Limits",
    flag: "max-disk-bytes",
    defaultText: "none",
    example: "50GiB",
    description:
      "Room for all transcripts, live and ended; ended ones are removed, then starts refused.",
  }),
}
