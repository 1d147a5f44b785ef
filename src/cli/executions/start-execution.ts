import { CallError } from "../../client/client-error.ts"
import type { Client } from "../../client/connect.ts"
import { type Reached, reach } from "../connect/reach.ts"
import { keeperEnd, runningKeeper } from "../connect/running-keeper.ts"
import type { Context } from "../context.ts"
import { spawnExitCode } from "../exit-code.ts"
import { CommandFailure } from "../failure.ts"
import {
  type AskedRun,
  type Receiver,
  type RunRequest,
  type RunValues,
  requestFor,
} from "./run-request.ts"

/** How the request is sent: followed, or only started. */
export type Send<Started> = (client: Client, request: RunRequest) => Promise<Started>

const shutdownLimitMs = 15_000

/** Starts an execution on a service that is running, or is started for it. */
export async function startExecution<Started>(
  context: Context,
  values: RunValues,
  asked: AskedRun,
  send: Send<Started>,
): Promise<{ reached: Reached; started: Started }> {
  const sendTo = async (reached: Reached) =>
    send(reached.client, requestFor(await receiverOf(reached), asked, context))
  const reached = await reach(context, values, "always")
  try {
    return { reached, started: await sendTo(reached) }
  } catch (error) {
    await reached.client.close()
    if (!(error instanceof CallError)) throw error
    if (!(await hasShutDown(error, reached))) throw asShellsSay(error)
  }
  const again = await reach(context, values, "always")
  return { reached: again, started: await sendTo(again) }
}

async function receiverOf({ client, address }: Reached): Promise<Receiver> {
  const { policy, run_as: otherUser } = await client.connected
  if (address.kind === "remote") return "remote"
  if (policy === "allow-list") return "allow-list"
  return otherUser === undefined ? "own-user" : "other-user"
}

/** One that ends because it was idle may be met in its last moment: the next one is started. */
async function hasShutDown(error: CallError, { address }: Reached): Promise<boolean> {
  if (error.failure.reason !== "SHUTTING_DOWN" || address.kind === "remote") return false
  const keeper = runningKeeper(address.paths.lock)
  return keeper === null || keeperEnd(address.paths.lock, keeper, shutdownLimitMs)
}

function asShellsSay(error: CallError): Error {
  const { reason, message, details } = error.failure
  if (reason !== "SPAWN_FAILED") return error
  return new CommandFailure(message, spawnExitCode(details?.["errno"]))
}
