import type { ListenAddress } from "../../bridge/clients/listening.ts"
import { isLoopbackAddress } from "../../lib/tcp-ends.ts"
import { UsageFailure } from "../failure.ts"

export type ListenChoice = { kind: "stdio" } | { kind: "network"; address: ListenAddress }

const defaultPort = 8004
const defaultHost = "127.0.0.1"

/** Reads `stdio`, `ws`, `ws:PORT`, `ws://HOST:PORT/path`, and the same with http. */
export function readListen(text: string): ListenChoice {
  if (text === "stdio") return { kind: "stdio" }
  const [, word, wordPort] = /^(ws|http)(?::(\d{1,5}))?$/.exec(text) ?? []
  if (word !== undefined) {
    const port = wordPort === undefined ? defaultPort : Number(wordPort)
    return network(text, word === "ws" ? "ws" : "http", defaultHost, port, null)
  }
  const url = URL.parse(text)
  const isHere = url !== null && ["ws:", "http:"].includes(url.protocol) && url.username === ""
  if (!isHere || url.search !== "" || url.hash !== "") throw notListen(text)
  const scheme = url.protocol === "ws:" ? "ws" : "http"
  const host = url.hostname === "localhost" ? defaultHost : url.hostname.replaceAll(/[[\]]/g, "")
  if (!/^[\d.]+$|:/.test(host)) {
    throw new UsageFailure(
      `--listen: ${url.hostname} is a host name: use localhost or an IP address.`,
    )
  }
  return network(text, scheme, host, portOf(text, url), url.pathname === "/" ? null : url.pathname)
}

/** The URL parser leaves out a port that is usual for its scheme. */
function portOf(text: string, url: URL): number {
  if (url.port !== "") return Number(url.port)
  return /^\w+:\/\/[^/]*:80(?:\/|$)/.test(text) ? 80 : defaultPort
}

function network(
  text: string,
  scheme: ListenAddress["scheme"],
  host: string,
  port: number,
  path: string | null,
): ListenChoice {
  if (port > 65_535) throw notListen(text)
  return { kind: "network", address: { scheme, host, port, path } }
}

function notListen(text: string): UsageFailure {
  return new UsageFailure(
    `--listen: "${text}" is not valid: use stdio, ws, http, ws:8004, http:0, ` +
      "or http://127.0.0.1:8004/mcp.",
  )
}

/** Nobody from elsewhere could show who they are. */
export function checkExposure({ host }: ListenAddress, hasClientToken: boolean): void {
  if (isLoopbackAddress(host) || hasClientToken) return
  throw new UsageFailure(
    `--listen: ${host} can be reached from other machines, but clients there could not ` +
      "authenticate. Add --client-token-file, or listen on 127.0.0.1.",
  )
}
