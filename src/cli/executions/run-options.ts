import type { OptionTable, Values } from "../arguments.ts"
import { addressOptions } from "../connect/address.ts"

export const runOptions = {
  detach: { type: "boolean", short: "d", about: "start it, print its id, do not follow it" },
  interactive: {
    type: "boolean",
    short: "i",
    about: "pass a terminal's input on, too; with -d keep it open for `send`",
  },
  terminal: { type: "boolean", short: "t", about: "run it on a terminal of this one's size" },
  shell: {
    type: "string",
    value: "'LINE'",
    about: "a command line for the service's shell, instead of a command",
  },
  cwd: { type: "string", value: "DIR", about: "where to run it (local default: here)" },
  env: {
    type: "string",
    short: "e",
    multiple: true,
    value: "NAME=VALUE",
    about: "set a variable; NAME alone passes this shell's on",
  },
  name: { type: "string", value: "NAME", about: "short for --label name=NAME" },
  label: {
    type: "string",
    short: "l",
    multiple: true,
    value: "NAME=VALUE",
    about: "label it, to find it again with `ps --label`",
  },
  timeout: { type: "string", value: "TIME", about: "stop it after so long, pauses not counted" },
  "idle-timeout": {
    type: "string",
    value: "TIME",
    about: "stop it after so long without a byte in or out",
  },
  "budget-bytes": { type: "string", value: "SIZE", about: "output to keep" },
  "budget-lines": { type: "string", value: "N", about: "lines of output to keep" },
  "budget-policy": {
    type: "string",
    value: "POLICY",
    choices: ["drop-oldest", "block"],
    about: "past the budget: drop-oldest, or block until it was read",
  },
  "output-limit": { type: "string", value: "SIZE", about: "stop it past so much output" },
  memory: { type: "string", value: "SIZE", about: "memory it may use (see `doctor`)" },
  cpus: { type: "string", value: "N", about: "processors it may keep busy, as 0.5 or 2" },
  pids: { type: "string", value: "N", about: "processes and threads it may have" },
  "cancel-on-disconnect": {
    type: "boolean",
    about: "cancel it when this program is gone for longer than a moment",
  },
  "idempotency-key": {
    type: "string",
    value: "KEY",
    about: "the same key starts one execution, however often it is sent",
  },
  ...addressOptions,
} as const satisfies OptionTable

export type RunValues = Values<typeof runOptions>
