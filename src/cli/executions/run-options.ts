import type { OptionTable, Values } from "../arguments.ts"
import { addressOptions } from "../connect/address.ts"

export const runOptions = {
  detach: { type: "boolean", short: "d", about: "start it, print its id, and return" },
  interactive: {
    type: "boolean",
    short: "i",
    about: "forward input from a terminal, too; with -d keep it open for `send`",
  },
  terminal: {
    type: "boolean",
    short: "t",
    about: "run it on a terminal, of the same size as this one",
  },
  shell: {
    type: "string",
    value: "'LINE'",
    about: "a command line for the service's shell, instead of a command",
  },
  cwd: {
    type: "string",
    value: "DIR",
    about: "working directory (default for the local service: this one)",
  },
  env: {
    type: "string",
    short: "e",
    multiple: true,
    value: "NAME=VALUE",
    about: "set a variable; NAME alone takes its value from this shell",
  },
  name: { type: "string", value: "NAME", about: "short for --label name=NAME" },
  label: {
    type: "string",
    short: "l",
    multiple: true,
    value: "NAME=VALUE",
    about: "label it, for `ps --label`",
  },
  timeout: { type: "string", value: "TIME", about: "stop it after this long, not counting pauses" },
  "idle-timeout": {
    type: "string",
    value: "TIME",
    about: "stop it after this long without input or output",
  },
  "budget-bytes": { type: "string", value: "SIZE", about: "output to keep" },
  "budget-lines": { type: "string", value: "N", about: "lines of output to keep" },
  "budget-policy": {
    type: "string",
    value: "POLICY",
    choices: ["drop-oldest", "block"],
    about: "beyond the budget: drop-oldest, or block until it is read",
  },
  "output-limit": { type: "string", value: "SIZE", about: "stop it after this much output" },
  memory: { type: "string", value: "SIZE", about: "memory limit (see `doctor`)" },
  cpus: { type: "string", value: "N", about: "processor limit, such as 0.5 or 2" },
  pids: { type: "string", value: "N", about: "limit of processes and threads" },
  "cancel-on-disconnect": {
    type: "boolean",
    about: "cancel it if this program stays disconnected",
  },
  "idempotency-key": {
    type: "string",
    value: "KEY",
    about: "requests with the same key start only one execution",
  },
  ...addressOptions,
} as const satisfies OptionTable

export type RunValues = Values<typeof runOptions>
