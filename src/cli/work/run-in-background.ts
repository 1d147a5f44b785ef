import { onOneLine } from "../../lib/harmless-text.ts"
import { callersEnvironment } from "../connect/service-environment.ts"
import type { Context } from "../context.ts"
import { reachLocal } from "./in-world.ts"

type Given = Readonly<Record<string, string | boolean | undefined>>

/** Starts the same command as an execution, and prints its id. */
export async function runInBackground(
  context: Context,
  words: readonly string[],
  values: Given,
  ...files: readonly string[]
): Promise<number> {
  const directory = values["state-dir"]
  const stateDir = typeof directory === "string" ? directory : undefined
  await using reached = await reachLocal(context, { "state-dir": stateDir })
  const { address } = reached
  const paths = address.kind === "local" ? { "state-dir": address.paths.directory } : {}
  const argv = [...context.self, ...words, ...optionsOf({ ...values, ...paths }), "--", ...files]
  const { execution_id } = await reached.client.call("execute", {
    argv,
    cwd: context.cwd,
    env: callersEnvironment(context.env),
    labels: { work: (files[0] ?? "").slice(-256) },
  })
  await context.stdout.write(`${onOneLine(execution_id)}\n`)
  return 0
}

function optionsOf(values: Given): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    if (name === "detach" || value === undefined || value === false) return []
    return value === true ? [`--${name}`] : [`--${name}=${value}`]
  })
}
