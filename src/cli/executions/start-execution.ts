import { CallError } from "../../client/client-error.ts"
import type { Client } from "../../client/connect.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import { nextCommand } from "../connect/next-command.ts"
import { type Reached, reach } from "../connect/reach.ts"
import { keeperEnd, runningKeeper } from "../connect/running-keeper.ts"
import type { Context } from "../context.ts"
import { spawnExitCode } from "../exit-code.ts"
import { asSentence, CommandFailure } from "../failure.ts"
import { quoted } from "./execution-text.ts"
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
    send(reached.client, requestFor(await receiverOf(reached, asked), asked, context))
  const reached = await reach(context, values, "always")
  try {
    return { reached, started: await sendTo(reached) }
  } catch (error) {
    await reached.client.close()
    if (!(error instanceof CallError)) throw error
    if (!(await hasShutDown(error, reached))) throw asShellsSay(context, error, asked)
  }
  const again = await reach(context, values, "always")
  return { reached: again, started: await sendTo(again) }
}

async function receiverOf({ client, address }: Reached, { request }: AskedRun): Promise<Receiver> {
  // Whichever node it will be: it is most likely another machine.
  if (request.on !== undefined) return "remote"
  const { policy, run_as: otherUser } = await client.connected
  // To another user's service this shell's environment is as foreign as to one far away.
  if (address.kind === "remote" || !address.isOwn) return "remote"
  if (policy === "allow-list") return "allow-list"
  return otherUser === undefined ? "own-user" : "other-user"
}

/** One that ends because it was idle may be met in its last moment: the next one is started. */
async function hasShutDown(error: CallError, { address }: Reached): Promise<boolean> {
  if (error.failure.reason !== "SHUTTING_DOWN" || address.kind === "remote") return false
  const keeper = runningKeeper(address.paths.lock)
  return keeper === null || keeperEnd(address.paths.lock, keeper, shutdownLimitMs)
}

function asShellsSay(context: Context, error: CallError, { request }: AskedRun): Error {
  const { reason, message, details } = error.failure
  if (reason === "NAME_IN_USE") {
    const follow = nextCommand(context, "attach", quoted(request.labels?.["name"] ?? ""))
    return new CommandFailure(onOneLine(`${message} To follow it: ${follow}`))
  }
  const line = wholeLine(request.argv ?? [])
  const inShell = line === null ? "" : nextCommand(context, "run", "--shell", quoted(line))
  if (reason === "SPAWN_FAILED") {
    const hint = inShell === "" ? "" : ` To run a command line in a shell: ${inShell}`
    return new CommandFailure(`${onOneLine(message)}${hint}`, spawnExitCode(details?.["errno"]))
  }
  if (reason !== "SECURITY_DENIED" || inShell === "") return error
  return new CommandFailure(
    `${asSentence(onOneLine(message))} This is a whole command line: give the program and its ` +
      "arguments as separate words, or let the policy allow the service's shell and use: " +
      inShell,
  )
}

/** Somebody who quoted a whole line meant it for a shell. */
function wholeLine(argv: readonly string[]): string | null {
  const [line = ""] = argv
  return argv.length === 1 && /\s/.test(line) ? line : null
}
