import { join } from "node:path"
import { socketUrl } from "../client/socket-url.ts"
import { loadConfig } from "../config.ts"
import type { OptionTable } from "./arguments.ts"
import type { Context } from "./context.ts"
import { asSentence } from "./describe-error.ts"
import { UsageFailure } from "./failure.ts"

/** Where the service is. */
export type Address = { kind: "remote"; url: string } | { kind: "local"; paths: StatePaths }

/** The files of a local service that the command line uses. */
export type StatePaths = {
  directory: string
  socket: string
  lock: string
  startLock: string
  log: string
  journal: string
  transcripts: string
  receiptKey: string
}

export const addressOptions = {
  url: { type: "string", value: "URL", about: "a remote service, else $CC_EXECUTOR_URL" },
  "state-dir": { type: "string", value: "DIR", about: "the local service's state directory" },
} as const satisfies OptionTable

type AddressValues = { url?: string | undefined; "state-dir"?: string | undefined }
type World = Pick<Context, "env" | "home">

export function addressOf(context: World, values: AddressValues): Address {
  const { url, "state-dir": stateDir } = values
  if (url !== undefined && stateDir !== undefined) {
    throw new UsageFailure("--url and --state-dir name two services: give one of them.")
  }
  const variable = context.env["CC_EXECUTOR_URL"] ?? ""
  const remote = url ?? (stateDir === undefined && variable !== "" ? variable : undefined)
  if (remote === undefined) return { kind: "local", paths: statePaths(context, stateDir) }
  const address = socketUrl(remote)
  if (!address.ok) throw new UsageFailure(address.failure)
  if (!/^wss?:\/\//.test(address.value)) {
    throw new UsageFailure(`"${remote}" is not an address of a service: give ws://host:8003.`)
  }
  return { kind: "remote", url: withPath(address.value) }
}

/** Only what names the directory is looked at: the rest of the settings is the service's. */
export function statePaths(context: World, stateDir: string | undefined): StatePaths {
  const { CC_EXECUTOR_STATE_DIR, XDG_STATE_HOME } = context.env
  const env = { CC_EXECUTOR_STATE_DIR, XDG_STATE_HOME }
  const flags = stateDir === undefined ? {} : { "state-dir": stateDir }
  const config = loadConfig({ flags, env: withoutUndefined(env), home: context.home })
  if (!config.ok) {
    throw new UsageFailure(config.failure.map(({ message }) => asSentence(message)).join(" "))
  }
  const directory = config.value.stateDir
  return {
    directory,
    socket: join(directory, "gateway.sock"),
    lock: join(directory, "lock"),
    startLock: join(directory, "start.lock"),
    log: join(directory, "service.log"),
    journal: join(directory, "journal.sqlite"),
    transcripts: join(directory, "transcripts"),
    receiptKey: join(directory, "receipt-key.pem"),
  }
}

function withoutUndefined(env: Context["env"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
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
