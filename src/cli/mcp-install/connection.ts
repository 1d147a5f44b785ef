import { resolve } from "node:path"
import { clientVariables } from "../../config/client-variables.ts"
import { type AddressValues, namedStateDirectory } from "../connect/address.ts"
import { bearerToken } from "../connect/bearer-token.ts"
import { clientTlsVariables, readClientTls } from "../connect/client-tls.ts"
import { withContext } from "../connect/service-choice.ts"
import type { Context } from "../context.ts"
import { UsageFailure } from "../failure.ts"

export const transports = ["stdio", "http", "ws"] as const
export type Transport = (typeof transports)[number]

/** How a client comes to the service, whatever words its configuration has for it. */
export type Connection =
  | { kind: "program"; command: string; args: readonly string[]; needsVariable: boolean }
  | { kind: "address"; transport: "http" | "ws"; url: string; needsVariable: boolean }

type World = Pick<Context, "env" | "home" | "cwd" | "self">

/** Nothing of a token gets into it: only a file's name, or that the client's variable has it. */
export function connectionOf(
  context: World,
  transport: Transport,
  values: AddressValues,
): Connection {
  const chosen = withContext(context, values)
  const remote = chosen.isLocal ? null : readUrl(urlOf(context, chosen.values))
  if (transport === "stdio") return program(context, remote, chosen.values)
  return address(context, transport, remote, values)
}

function urlOf({ env }: World, { url }: AddressValues): string {
  return url ?? env[clientVariables.url] ?? ""
}

export function readUrl(text: string): URL {
  const url = URL.parse(text)
  if (url === null || !/^(?:ws|http)s?:$/.test(url.protocol)) {
    throw new UsageFailure(`"${text}" is not a service address: use for example ws://host:8003.`)
  }
  // Not repeated in the message: it may be a password.
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new UsageFailure(
      "The URL contains a user, a password or a query, which would be written into a file. " +
        "Use the address alone, and --token-file for a token.",
    )
  }
  return url
}

const paths = { http: "/mcp", ws: "/ws/mcp" } as const

/** The same service over another transport; a path that a proxy has put before it stays. */
function doorOf(url: URL, guard: "http" | "ws"): string {
  const before = url.pathname.replace(/(?:\/ws)?\/mcp\/?$/, "").replace(/\/$/, "")
  const isSecure = url.protocol === "wss:" || url.protocol === "https:"
  return `${guard}${isSecure ? "s" : ""}://${url.host}${before}${paths[guard]}`
}

function program(context: World, remote: URL | null, values: AddressValues): Connection {
  const [command = "", ...self] = context.self
  const base = { kind: "program", command: resolve(context.cwd, command) } as const
  if (remote === null) {
    refuseRemoteOptions(values)
    const args = [...self, "mcp", ...stateDirOption(context, values["state-dir"])]
    return { ...base, args, needsVariable: false }
  }
  const token = tokenOption(context, values["token-file"])
  const url = doorOf(remote, "ws")
  const tls = url.startsWith("wss:") ? tlsOptions(context, values) : []
  const args = [...self, "mcp", "--url", url, ...token.args, ...tls]
  return { ...base, args, needsVariable: token.needsVariable }
}

function refuseRemoteOptions(values: AddressValues): void {
  const names = ["token-file", ...tlsNames] as const
  const given = names.find((name) => values[name] !== undefined)
  if (given === undefined) return
  throw new UsageFailure(`--${given} needs --url: the local service does not use it.`)
}

/** Clients start programs with few of their variables: where it is not the usual one, say so. */
function stateDirOption(context: World, stateDir: string | undefined): string[] {
  const directory = namedStateDirectory(context, stateDir)
  const usual = namedStateDirectory({ env: {}, home: context.home }, undefined)
  return directory === usual ? [] : ["--state-dir", directory]
}

function tokenOption(context: World, tokenFile: string | undefined) {
  const path = tokenFile === undefined ? undefined : resolve(context.cwd, tokenFile)
  const token = bearerToken(context.env, path)
  if (token === null) return { args: [], needsVariable: false }
  token.read() // whatever is wrong with it is told now
  if (path !== undefined) return { args: ["--token-file", path], needsVariable: false }
  if (token.from === clientVariables.token) return { args: [], needsVariable: true }
  const named = resolve(context.cwd, context.env[clientVariables.tokenFile] ?? "")
  return { args: ["--token-file", named], needsVariable: false }
}

const tlsNames = ["ca-file", "client-cert", "client-key"] as const

function tlsOptions(context: World, values: AddressValues): string[] {
  readClientTls(context.env, values) // whatever is wrong with the files is told now
  return tlsNames.flatMap((name) => {
    const path = values[name] ?? context.env[clientTlsVariables[name]] ?? ""
    return path === "" ? [] : [`--${name}`, resolve(context.cwd, path)]
  })
}

const usualUrl = new URL("http://127.0.0.1:8003")

function address(
  context: World,
  transport: "http" | "ws",
  remote: URL | null,
  values: AddressValues,
): Connection {
  const stdioOnly = ["state-dir", "token-file", ...tlsNames] as const
  const given = stdioOnly.find((name) => values[name] !== undefined)
  if (given !== undefined) {
    throw new UsageFailure(
      `--${given} is for --transport stdio, where cc-executor itself connects. With ${transport} ` +
        `the client does, and reads the token only from its variable ${clientVariables.token}.`,
    )
  }
  const service = remote ?? usualUrl
  const hasToken = (context.env[clientVariables.token] ?? "") !== ""
  const url = doorOf(service, transport)
  return { kind: "address", transport, url, needsVariable: hasToken || !isLoopback(service) }
}

/** The service's own user needs no token there. */
function isLoopback({ hostname }: URL): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
}
