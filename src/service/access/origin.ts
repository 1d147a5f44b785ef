import { fail, ok, type Result } from "../../lib/result.ts"
import { type Failure, failure } from "../../protocol/failure.ts"

export type Approach = {
  /** The Host header, or what the URL says where there was none. */
  host: string
  /** The Origin header: browsers send it, programs do not. */
  origin: string | null
  /** The Sec-Fetch-Site header: browsers send it also where they leave the Origin out. */
  fetchSite: string | null
  isUnixSocket: boolean
  /** A person follows a link to the page at `/`, which has no data in it. */
  isLinkToShell?: boolean
}

export type KnownNames = {
  /**
   * Names and addresses the service is configured to be reached by, besides loopback. The wildcards
   * `0.0.0.0` and `::` stand for any address.
   */
  allowedHosts: readonly string[]
  /** Origins whose pages may use the service, besides its own. */
  allowedOrigins: readonly string[]
}

export type CheckOrigin = (approach: Approach) => Result<null, Failure>

/**
 * Keeps web pages out. A page of another site, or of another port of this machine, has another
 * Origin. A page whose own name was made to resolve to this machine (DNS rebinding) has that name
 * as Host; an address as Host needs no such check, since nobody can rebind an address.
 */
export function originChecker({ allowedHosts, allowedOrigins }: KnownNames): CheckOrigin {
  const trusted = new Set(allowedHosts.map(hostnameOf))
  return ({ host, origin, fetchSite, isUnixSocket, isLinkToShell = false }) => {
    const hostname = hostnameOf(host)
    // No page can be made to talk to a unix socket, and its clients say any Host.
    if (!isUnixSocket && (hostname === null || !isAllowedHost(hostname, trusted))) {
      const message =
        `The service is not known as ${JSON.stringify(host)}. ` +
        "Use its own host name, or start it with --allowed-hosts."
      return fail(failure("FORBIDDEN", message))
    }
    if (origin === null) {
      // An image, a script or a link of another site is asked for without an Origin.
      const isOwn = fetchSite === null || fetchSite === "same-origin" || fetchSite === "none"
      return isOwn || isLinkToShell ? ok(null) : fail(otherSite)
    }
    const page = pageOf(origin)
    const isOwnPage = page !== null && page.host === host.toLowerCase()
    if (page !== null && (isOwnPage || allowedOrigins.includes(page.origin))) return ok(null)
    const message =
      `Web pages from ${JSON.stringify(origin)} may not use this service. ` +
      "To allow them, start it with --allowed-origins."
    return fail(failure("FORBIDDEN", message))
  }
}

const otherSite = failure("FORBIDDEN", "Web pages from other sites may not use this service.")

type Trusted = ReadonlySet<string | null>

function isAllowedHost(hostname: string, trusted: Trusted): boolean {
  const anyAddress = trusted.has("0.0.0.0") || trusted.has("[::]")
  return isLoopback(hostname) || trusted.has(hostname) || (anyAddress && isAddress(hostname))
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname)
}

function isAddress(hostname: string): boolean {
  return hostname.startsWith("[") || /^\d+(?:\.\d+){3}$/.test(hostname)
}

/**
 * Without the port, in the one spelling browsers reduce all others to: lower case, `127.1` as
 * 127.0.0.1. Null for what is no host: the URL parser would also take `user@host` and `host/path`.
 */
function hostnameOf(host: string): string | null {
  if (!/^[\w.:[\]-]+$/.test(host)) return null
  const bare = /^[^[]*:[^[]*:/.test(host) ? `[${host}]` : host
  const url = URL.parse(`http://${bare}`)
  return url === null ? null : url.hostname.replace(/\.$/, "")
}

function pageOf(origin: string): { host: string; origin: string } | null {
  const url = URL.parse(origin)
  if (url === null || !["http:", "https:"].includes(url.protocol)) return null
  return { host: url.host, origin: url.origin }
}
