import { socketUrl } from "../../client/connection/open-socket.ts"
import { clientVariables } from "../../config/client-variables.ts"
import { loadStateDir } from "../../config/state-dir.ts"
import { type StatePaths, statePathsIn } from "../../service/storage/state-paths.ts"
import { option } from "../arguments.ts"
import type { Context } from "../context.ts"
import { asSentence, UsageFailure } from "../failure.ts"
import { type BearerToken, bearerToken } from "./bearer-token.ts"
import { type ClientTls, clientTlsOptions, readClientTls } from "./client-tls.ts"

/** Where the service is. */
export type Address = RemoteAddress | { kind: "local"; paths: StatePaths }
export type RemoteAddress = {
  kind: "remote"
  url: string
  token: BearerToken | null
  tls: ClientTls
}

export const stateDirOption = {
  "state-dir": option("DIR", "the local service's state directory"),
}

export const addressOptions = {
  url: option("URL", "a remote service (default $CC_EXECUTOR_URL)"),
  "token-file": option("FILE", "its token (default $CC_EXECUTOR_TOKEN or $CC_EXECUTOR_TOKEN_FILE)"),
  ...stateDirOption,
  ...clientTlsOptions,
}

export type AddressValues = { [Name in keyof typeof addressOptions]?: string | undefined }
type World = Pick<Context, "env" | "home">

export function addressOf(context: World, values: AddressValues): Address {
  const { url, "token-file": tokenFile, "state-dir": stateDir } = values
  if (url !== undefined && stateDir !== undefined) {
    throw new UsageFailure("--url and --state-dir name two services: use only one.")
  }
  const variable = context.env[clientVariables.url] ?? ""
  const remote = url ?? (stateDir === undefined && variable !== "" ? variable : undefined)
  if (remote === undefined) {
    if (tokenFile === undefined) return { kind: "local", paths: statePaths(context, stateDir) }
    throw new UsageFailure("--token-file needs --url: the local service needs no token.")
  }
  const address = socketUrl(remote)
  if (!address.ok) throw new UsageFailure(address.failure)
  if (!/^wss?:\/\//.test(address.value)) {
    throw new UsageFailure(`"${remote}" is not a service address: use for example ws://host:8003.`)
  }
  return {
    kind: "remote",
    url: withPath(address.value),
    token: bearerToken(context.env, tokenFile),
    tls: address.value.startsWith("wss:") ? readClientTls(context.env, values) : {},
  }
}

export function statePaths(context: World, stateDir: string | undefined): StatePaths {
  const { env, home } = context
  const read = loadStateDir({ flag: stateDir, env, home })
  if (!read.ok) throw new UsageFailure(asSentence(read.failure))
  return statePathsIn(read.value)
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
