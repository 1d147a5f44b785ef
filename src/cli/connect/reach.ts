import { lstatSync, statSync } from "node:fs"
import { CallError, ClientClosedError } from "../../client/client-error.ts"
import { type Client, connect } from "../../client/connect.ts"
import type { ConnectionState } from "../../client/connection/connection.ts"
import type { SocketHeaders } from "../../client/connection/open-socket.ts"
import type { Failure } from "../../protocol/failure.ts"
import type { StatePaths } from "../../service/storage/state-paths.ts"
import type { Context } from "../context.ts"
import { CommandFailure } from "../failure.ts"
import { type Address, addressOf } from "./address.ts"
import { startIfNeeded } from "./auto-start.ts"
import { foreignAnswerMs, hasListener, openLocalSocket } from "./local-listener.ts"
import { reconnectNotice } from "./reconnect-notice.ts"
import { remoteFailure } from "./remote-failure.ts"
import { type RunningKeeper, runningKeeper } from "./running-keeper.ts"

/** A connection to the service. */
export type Reached = AsyncDisposable & { client: Client; address: Address }

/**
 * What to do without a local service: start one in any case, only if there is a journal it could
 * answer from, or never.
 */
export type Start = "always" | "with-journal" | "never"

export async function reach(
  context: Context,
  values: Parameters<typeof addressOf>[1],
  start: Start,
): Promise<Reached> {
  const address = addressOf(context, values)
  const reached = await tryReach(context, address, start)
  if (reached !== null) return reached
  throw new CommandFailure(noServiceText(address))
}

export function noServiceText(address: Address): string {
  if (address.kind === "local" && !address.isOwn) {
    return `No service is running for ${address.paths.directory}.`
  }
  return "No service is running. `cc-executor run -- COMMAND` starts one."
}

/** Null when there is no local service and none may be started. */
export async function tryReach(
  context: Context,
  address: Address,
  start: Start,
): Promise<Reached | null> {
  if (address.kind === "remote") {
    address.token?.read() // whatever is wrong with it is told before anybody is asked
    const client = await greeted(context, address)
    if (client.ok) return reachedBy(client.client, address)
    throw await remoteFailure(address, client)
  }
  const { paths, isOwn } = address
  if (isAnythingAt(paths.socket)) {
    const client = await greeted(context, address)
    if (client.ok) return reachedBy(client.client, address)
    if (client.refused !== null) throw new CallError(client.refused)
    if (!isOwn && hasListener(paths)) throw notAService(paths, client.why)
  }
  const mayStart = start === "always" || (start === "with-journal" && isAnythingAt(paths.journal))
  const isRunning = runningKeeper(paths.lock) !== null
  if (!mayStart && !isRunning) return null
  if (!isOwn) throw unreachable(paths, isRunning)
  await startIfNeeded(context, paths)
  const client = await greeted(context, address)
  if (client.ok) return reachedBy(client.client, address)
  throw new CommandFailure(
    `The service does not answer on ${paths.socket}: ${client.why}. ` +
      "Run `cc-executor doctor` to find out why.",
  )
}

function isAnythingAt(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

/** A service started by root in another user's directory would keep that user from it. */
function unreachable({ directory, socket }: StatePaths, isRunning: boolean): CommandFailure {
  if (isRunning) return new CommandFailure(`The service does not answer on ${socket}.`)
  const { uid, gid } = statSync(directory)
  return new CommandFailure(
    `No service is running for ${directory}, and only its owner, user ${uid}, can start one. ` +
      `Run this as that user: setpriv --reuid=${uid} --regid=${gid} --clear-groups cc-executor …`,
  )
}

/** What is there may be starting, or anything else: it is not ours to replace. */
function notAService({ directory, socket }: StatePaths, why: string): CommandFailure {
  const { uid } = statSync(directory)
  return new CommandFailure(
    `A process of user ${uid} listens on ${socket}, but does not answer as a service does: ` +
      `${why}. Try again, or run \`cc-executor doctor\` to find out more.`,
  )
}

function reachedBy(client: Client, address: Address): Reached {
  return { client, address, [Symbol.asyncDispose]: () => client.close() }
}

type Ungreeted = { ok: false; why: string; refused: Failure | null }
type Greeted = { ok: true; client: Client } | Ungreeted

/** The first attempt decides; later the client reconnects by itself. */
async function greeted(context: Context, address: Address): Promise<Greeted> {
  const failed = Promise.withResolvers<Ungreeted>()
  const notice = reconnectNotice(context)
  const client = connect({
    ...socketOf(address),
    onConnection(state: ConnectionState) {
      notice(state)
      if (state.kind === "waiting") failed.resolve({ ok: false, why: state.why, refused: null })
    },
  })
  const connected = client.connected.then(() => ({ ok: true, client }) as const, closedFor)
  const outcome = await Promise.race([connected, failed.promise])
  if (!outcome.ok) await client.close()
  return outcome
}

/** A refusal that no waiting cures, or a socket that cannot even be tried. */
function closedFor(error: unknown): Ungreeted {
  if (error instanceof CallError) return { ok: false, why: error.message, refused: error.failure }
  if (error instanceof ClientClosedError) return { ok: false, why: error.message, refused: null }
  throw error
}

function socketOf(address: Address) {
  if (address.kind === "remote") {
    const { url, token, tls } = address
    const openSocket = (_url: string, headers: SocketHeaders) =>
      new WebSocket(url, { headers: { ...headers }, tls })
    return { url, openSocket, ...(token === null ? {} : { token: () => token.read() }) }
  }
  const { paths } = address
  const isGone = goneForGood(paths)
  return {
    url: "ws://localhost/ws/mcp",
    ...(address.isOwn ? {} : { limits: { greetingMs: foreignAnswerMs } }),
    openSocket() {
      if (isGone()) throw new ServiceGoneError(paths)
      return openLocalSocket(paths)
    },
  }
}

/** How long nobody has to start a keeper again, by who had started the one that is missed. */
const commandRestartMs = 1_000 // the next command does, if there is one
const ownerRestartMs = 5_000
/** One that was never seen runs in another container, or had died just before we came. */
const unseenRestartMs = 30_000

/** A keeper that died may be started again by its owner; past a while nobody will. */
function goneForGood(paths: StatePaths): () => boolean {
  let seen: RunningKeeper | null = null
  let missedSinceMs: number | null = null
  return () => {
    const running = runningKeeper(paths.lock)
    if (running !== null) {
      seen = running
      missedSinceMs = null
      return false
    }
    missedSinceMs ??= performance.now()
    return performance.now() - missedSinceMs > restartMs(seen)
  }
}

function restartMs(seen: RunningKeeper | null): number {
  if (seen === null) return unseenRestartMs
  return seen.startedBy === "command" ? commandRestartMs : ownerRestartMs
}

class ServiceGoneError extends CommandFailure {
  constructor(paths: StatePaths) {
    super(
      `The service for ${paths.directory} has ended. ` +
        "Run `cc-executor ps -a` to start a new one and see what became of its executions.",
    )
  }
}
