import { z } from "zod"
import { Scope } from "../execution/scope.ts"
import { settingsIn } from "./setting.ts"
import {
  absolutePath,
  boolean,
  count,
  duration,
  orNone,
  size,
  type TextForm,
  textForm,
} from "./text-form.ts"

const listening = settingsIn("Listening")

/** Where the service is reached, by whom, and how fast they may talk. */
export const listenSettings = {
  hosts: listening(listenHosts(), {
    flag: "host",
    defaultText: "localhost",
    example: "127.0.0.1",
    description: "Addresses to listen on; `localhost` is both 127.0.0.1 and ::1.",
  }),
  port: listening(orNone(count({ min: 0, max: 65_535 })), {
    defaultText: "8003",
    description: "TCP port; 0 picks a free one, `none` listens on the unix socket only.",
  }),
  requireToken: listening(boolean(), {
    defaultText: "false",
    example: "true",
    description:
      "Requires a token from the service's own user on loopback too; not on the unix socket.",
  }),
  makeToken: listening(boolean(), {
    defaultText: "false",
    example: "true",
    description:
      "Makes a token at startup if clients need one and there is none; `token show` prints it.",
  }),
  containerName: listening(orNone(containerNames()), {
    example: "cc_executor_mcp",
    description: "The container the service runs in, named in commands that it suggests.",
  }),
  acceptTokenFile: listening(orNone(absolutePath()), {
    example: "/run/secrets/cc-executor-token",
    description:
      "A file of tokens to accept besides those of `token create`, such as a container secret.",
  }),
  acceptTokenScopes: listening(scopeList(), {
    defaultText: "execute,control,read",
    example: "read",
    description: "What clients with a token from that file may do.",
  }),
  allowedHosts: listening(orNone(hostNames()), {
    example: "executor.example.net",
    description: "Additional host names that clients may use; any other `Host` is refused.",
  }),
  allowedOrigins: listening(orNone(webOrigins()), {
    example: "https://console.example.net",
    description: "Web origins, besides the service's own, whose pages may connect.",
  }),
  noConsole: listening(boolean(), {
    defaultText: "false",
    example: "true",
    description: "Leaves out the page at `/`.",
  }),
  preloadMcp: listening(boolean(), {
    defaultText: "false",
    example: "true",
    description:
      "Loads MCP at startup: its first client is answered sooner, for 14 MB more memory.",
  }),
  tlsCert: listening(orNone(absolutePath()), {
    example: "/etc/cc-executor/cert.pem",
    description:
      "The service's certificate, then its intermediates (PEM); clients then use wss://.",
  }),
  tlsKey: listening(orNone(absolutePath()), {
    example: "/etc/cc-executor/key.pem",
    description: "The key of `--tls-cert` (PEM, not encrypted).",
  }),
  tlsClientCa: listening(orNone(absolutePath()), {
    example: "/etc/cc-executor/clients.pem",
    description: "Authorities (PEM); every client must have a certificate from one of them.",
  }),
  clientCertScopes: listening(scopeList(), {
    defaultText: "execute,control,read",
    example: "read",
    description: "What clients with such a certificate may do.",
  }),
  maxSessions: listening(count({ min: 1, max: 100_000 }), {
    bareVariable: "MAX_SESSIONS",
    defaultText: "100",
    description: "WebSocket sessions open at once; further ones are refused with `SESSION_LIMIT`.",
  }),
  maxSessionsPerPrincipal: listening(count({ min: 1, max: 100_000 }), {
    defaultText: "32",
    description: "Sessions one principal without the scope `admin` may have open at once.",
  }),
  maxConnectionsPerAddress: listening(count({ min: 1, max: 100_000 }), {
    defaultText: "64",
    description: "Sessions one address may have open at once; loopback is not counted.",
  }),
  messagesPerSecond: listening(count({ min: 1, max: 1_000_000 }), {
    defaultText: "1000",
    description:
      "Messages per session, and HTTP requests per principal; bursts may be twice as large.",
  }),
  requestTimeoutMs: listening(duration({ min: "4s", max: "4m" }), {
    defaultText: "30s",
    description: "Time to send a complete HTTP request; slower clients are disconnected.",
  }),
  streamTimeoutMs: listening(duration({ min: "1s", max: "365d" }), {
    bareVariable: "STREAM_TIMEOUT",
    defaultText: "5m",
    description:
      "Closes a session that has not answered pings for this long; silence alone is fine.",
  }),
  maxMessageBytes: listening(size({ min: "64k", max: "1G" }), {
    defaultText: "8MiB",
    description: "The largest message or request body a client may send.",
  }),
}

function scopeList(): TextForm<Scope[]> {
  const allowed = `some of ${Scope.options.join(", ")}`
  return textForm("<scopes>", allowed, readScopes, "separated by commas")
}

function readScopes(text: string): Scope[] | undefined {
  const named = new Set(text.toLowerCase().split(/\s*,\s*/))
  const known = Scope.options.filter((scope) => named.has(scope))
  return known.length === named.size ? known : undefined
}

function containerNames(): TextForm<string> {
  const allowed = "a container name: letters, digits, dots, dashes and underscores"
  return textForm("<name>", allowed, (text) => (/^\w[\w.-]*$/.test(text) ? text : undefined))
}

/** Names by which clients know the service, without a port. */
function hostNames(): TextForm<string[]> {
  return textForm("<names>", "host names separated by commas", (text) =>
    all(text, (name) => {
      const url = /^[\w.:[\]-]+$/.test(name) ? URL.parse(`http://${name}`) : null
      return url !== null && url.port === "" ? url.hostname : undefined
    }),
  )
}

/** Where a page comes from, as browsers write it: scheme, host and port. */
function webOrigins(): TextForm<string[]> {
  return textForm("<origins>", "web origins separated by commas", (text) =>
    all(text, (origin) => {
      const url = URL.parse(origin)
      const isWeb = url !== null && ["http:", "https:"].includes(url.protocol)
      return isWeb && url.pathname === "/" && url.search === "" ? url.origin : undefined
    }),
  )
}

function all(text: string, read: (one: string) => string | undefined): string[] | undefined {
  const values = text.split(",").map((one) => read(one.trim()))
  const good = values.filter((value) => value !== undefined)
  return good.length === values.length ? good : undefined
}

/**
 * Addresses to listen on. Names other than localhost are not taken: what they mean can change
 * between this check for loopback and the bind.
 */
function listenHosts(): TextForm<string[]> {
  return textForm("<addresses>", "localhost, or IP addresses separated by commas", (text) => {
    const hosts = new Set<string>()
    for (const part of text.split(",")) {
      const addresses = addressesOf(part.trim())
      if (addresses === null) return undefined
      for (const address of addresses) hosts.add(address)
    }
    return [...hosts]
  })
}

const ipv4 = z.ipv4()
const ipv6 = z.ipv6()

function addressesOf(host: string): string[] | null {
  if (host.toLowerCase() === "localhost") return ["127.0.0.1", "::1"]
  if (ipv4.safeParse(host).success) return [host]
  const bare = host.replace(/^\[(.*)\]$/, "$1")
  return ipv6.safeParse(bare).success ? [canonicalIpv6(bare)] : null
}

/** ::1 has many spellings, and only one of them is compared with. */
function canonicalIpv6(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1)
}
