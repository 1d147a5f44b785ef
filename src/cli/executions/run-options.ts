import { flag, option, repeatable, type Values } from "../arguments.ts"
import { addressOptions } from "../connect/address.ts"

export const runOptions = {
  detach: flag("start it, print its id, and return", { short: "d" }),
  interactive: flag("forward input from a terminal, too; with -d keep it open for `send`", {
    short: "i",
  }),
  terminal: flag("run it on a terminal, of the same size as this one", { short: "t" }),
  shell: option("'LINE'", "a command line for the service's shell, instead of a command"),
  cwd: option("DIR", "working directory (default for the local service: this one)"),
  env: repeatable("NAME=VALUE", "set a variable; NAME alone takes its value from this shell", {
    short: "e",
  }),
  name: option("NAME", "short for --label name=NAME"),
  label: repeatable("NAME=VALUE", "label it, for `ps --label`", { short: "l" }),
  timeout: option("TIME", "stop it after this long, not counting pauses"),
  "idle-timeout": option("TIME", "stop it after this long without input or output"),
  "budget-bytes": option("SIZE", "output to keep"),
  "budget-lines": option("N", "lines of output to keep"),
  "budget-policy": option("POLICY", "beyond the budget: drop-oldest, or block until it is read", {
    choices: ["drop-oldest", "block"],
  }),
  "output-limit": option("SIZE", "stop it after this much output"),
  memory: option("SIZE", "memory limit (see `doctor`)"),
  cpus: option("N", "processor limit, such as 0.5 or 2"),
  pids: option("N", "limit of processes and threads"),
  "cancel-on-disconnect": flag("cancel it if this program stays disconnected"),
  "idempotency-key": option("KEY", "requests with the same key start only one execution"),
  ...addressOptions,
}

export type RunValues = Values<typeof runOptions>
