import { resolve } from "node:path"
import { trialVariable } from "../../workflow/run/within-trial.ts"
import { WorkFailure } from "../../workflow/run/work-failure.ts"
import { clearAway } from "../../workflow/run/workspace.ts"
import { placesRoot, type World } from "../../workflow/run/world.ts"
import { type AddressValues, addressOptions } from "../connect/address.ts"
import { type Reached, reach } from "../connect/reach.ts"
import { callersEnvironment } from "../connect/service-environment.ts"
import type { Context } from "../context.ts"
import { CommandFailure } from "../failure.ts"
import { ownPublicKey } from "../verify/own-public-key.ts"

/** Trials run where the work is, so only the service of this machine will do. */
export const workOptions = { "state-dir": addressOptions["state-dir"] }

/** Does something with a work; what is expected to go wrong with it ends the command. */
export async function inWorld<Value>(
  context: Context,
  values: Pick<AddressValues, "state-dir">,
  use: (world: World) => Promise<Value>,
  trusted: readonly string[] = [],
): Promise<Value> {
  await using reached = await reachLocal(context, values)
  const { address } = reached
  if (address.kind !== "local" || !address.isOwn) {
    throw new CommandFailure("Works are run by your own local service: leave out the other one.")
  }
  const { receiptKey, directory: stateDirectory } = address.paths
  const world: World = {
    client: reached.client,
    environment: callersEnvironment(context.env),
    places: placesRoot(context),
    stateDirectory,
    publicKeys() {
      const own = ownPublicKey(receiptKey)
      return own === null ? trusted : [own, ...trusted]
    },
    within: context.env[trialVariable] ?? null,
    now: () => context.now(),
  }
  return await expected(async () => {
    await clearAway(world)
    return use(world)
  })
}

export function reachLocal(
  context: Context,
  { "state-dir": stateDir }: Pick<AddressValues, "state-dir">,
): Promise<Reached> {
  const address = stateDir === undefined ? { context: "local" } : { "state-dir": stateDir }
  return reach(context, address, "always")
}

export async function expected<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof WorkFailure ? new CommandFailure(error.message) : error
  }
}

/** As given on the command line. */
export function workPath(context: Pick<Context, "cwd">, given: string | undefined): string {
  return resolve(context.cwd, given ?? "")
}
