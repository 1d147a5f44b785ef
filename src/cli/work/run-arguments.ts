import { PermissionMode } from "../../protocol/agent.ts"
import type { RunOptions } from "../../workflow/run/run-options.ts"
import { flag, option, type Values } from "../arguments.ts"
import { UsageFailure } from "../failure.ts"
import { durationOption } from "../time.ts"
import { workOptions } from "./in-world.ts"

/** What every command has that runs trials. */
export const runOptions = {
  "max-cost": option("USD", "start no further trial when they have cost this much"),
  model: option("MODEL", "which model an agent uses", { short: "m" }),
  "permission-mode": option("MODE", "what an agent may do without asking", {
    choices: PermissionMode.options,
  }),
  timeout: option("TIME", "stop an act after this long"),
  detach: flag("run it as an execution: print its id, and return", { short: "d" }),
  json: flag("one JSON document"),
  ...workOptions,
}

export function readRunOptions(
  values: Values<typeof runOptions>,
): Omit<RunOptions, "tell" | "signal"> {
  const mode = PermissionMode.options.find((known) => known === values["permission-mode"])
  const asked = values["permission-mode"]
  if (asked !== undefined && mode === undefined) {
    const allowed = PermissionMode.options.join(", ")
    throw new UsageFailure(`--permission-mode: "${asked}" is not a mode: use one of ${allowed}.`)
  }
  const { timeout, model } = values
  return {
    session: {
      ...(model === undefined ? {} : { model }),
      ...(mode === undefined ? {} : { permission_mode: mode }),
    },
    maxCostUsd: values["max-cost"] === undefined ? null : dollars(values["max-cost"]),
    timeoutSeconds: timeout === undefined ? null : durationOption("--timeout", timeout) / 1000,
  }
}

function dollars(text: string): number {
  const value = /^\$?\d+(?:\.\d+)?$/.test(text) ? Number(text.replace("$", "")) : 0
  if (value > 0) return value
  throw new UsageFailure(`--max-cost: "${text}" is not an amount in dollars: use for example 2.50.`)
}
