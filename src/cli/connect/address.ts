import { socketUrl } from "../../client/connection/open-socket.ts"
import { clientVariables } from "../../config/client-variables.ts"
import { loadStateDir } from "../../config/state-dir.ts"
import type { StatePaths } from "../../service/storage/state-paths.ts"
import { option } from "../arguments.ts"
import type { Context } from "../context.ts"
import { asSentence, CommandFailure, UsageFailure } from "../failure.ts"
import { type BearerToken, bearerToken } from "./bearer-token.ts"
import { type ClientTls, clientTlsOptions, readClientTls } from "./client-tls.ts"
import { withContext } from "./service-choice.ts"
import { type LocalState, readableState, writableState } from "./state-directory.ts"

/** Where the service is. */
export type Address = RemoteAddress | ({ kind: "local" } & LocalState)
export type RemoteAddress = {
  kind: "remote"
  url: string
  token: BearerToken | null
  tls: ClientTls
  /** The saved context that named it; null where none did. */
  context: string | null
}

export const stateDirOption = {
  "state-dir": option("DIR", "the local service's state directory"),
}

export const addressOptions = {
  url: option("URL", "a remote service (default $CC_EXECUTOR_URL)"),
  "token-file": option("FILE", "its token (default $CC_EXECUTOR_TOKEN or $CC_EXECUTOR_TOKEN_FILE)"),
  ...stateDirOption,
  ...clientTlsOptions,
  context: option("CONTEXT", "a saved context (default $CC_EXECUTOR_CONTEXT), or local"),
}

export type AddressValues = { [Name in keyof typeof addressOptions]?: string | undefined }
type World = Pick<Context, "env" | "home">

export function addressOf(context: World, values: AddressValues): Address {
  const chosen = withContext(context, values)
  if (chosen.isLocal) {
    const { "token-file": tokenFile, "state-dir": stateDir } = values
    if (tokenFile === undefined) return { kind: "local", ...localState(context, stateDir) }
    throw new UsageFailure("--token-file needs --url: the local service needs no token.")
  }
  const { context: name } = chosen
  try {
    return { ...remoteAddress(context.env, chosen.values), context: name }
  } catch (error) {
    if (name === null || !(error instanceof CommandFailure)) throw error
    throw new CommandFailure(`Context "${name}": ${error.message}`)
  }
}

/** Refuses what is not the address of a service, and files that cannot be used. */
export function remoteAddress(
  env: World["env"],
  values: AddressValues,
): Omit<RemoteAddress, "context"> {
  const remote = values.url ?? env[clientVariables.url] ?? ""
  const address = socketUrl(remote)
  if (!address.ok) throw new UsageFailure(address.failure)
  if (!/^wss?:\/\//.test(address.value)) {
    throw new UsageFailure(`"${remote}" is not a service address: use for example ws://host:8003.`)
  }
  return {
    kind: "remote",
    url: withPath(address.value),
    token: bearerToken(env, values["token-file"]),
    tls: address.value.startsWith("wss:") ? readClientTls(env, values) : {},
  }
}

/** Of a command that reads, or asks the service. */
export function localState(context: World, stateDir: string | undefined): LocalState {
  return readableState(namedStateDirectory(context, stateDir))
}

/** Of a command that writes. */
export function ownStatePaths(context: World, stateDir: string | undefined): StatePaths {
  return writableState(namedStateDirectory(context, stateDir))
}

/** As it was given: nobody has looked there yet. */
export function namedStateDirectory(context: World, stateDir: string | undefined): string {
  const { env, home } = context
  const read = loadStateDir({ flag: stateDir, env, home })
  if (!read.ok) throw new UsageFailure(asSentence(read.failure))
  return read.value
}

function withPath(address: string): string {
  const url = new URL(address)
  if (url.pathname === "/") url.pathname = "/ws/mcp"
  return url.href
}

/** The address that answers plain HTTP requests, for the same service. */
export function httpUrl(socketAddress: string, path: string): string {
  const url = new URL(socketAddress.replace(/^ws/, "http"))
  url.pathname = path
  url.search = ""
  return url.href
}
