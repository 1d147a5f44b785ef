/** Beginnings of headers by which proxies say for whom they speak. */
const beginnings = ["x-forwarded", "forwarded", "x-envoy-", "x-original-", "x-cluster-client"]
const names = new Set([
  "via",
  "x-real-ip",
  "x-client-ip",
  "client-ip",
  "cf-connecting-ip",
  "true-client-ip",
  "fastly-client-ip",
  "fly-client-ip",
  "x-azure-clientip",
  "x-proxyuser-ip",
])

/** A proxy on loopback makes the whole internet local: what it passes on is not this machine's. */
export function isForwarded(headers: { keys(): Iterable<string> }): boolean {
  for (const header of headers.keys()) {
    const name = header.toLowerCase()
    if (names.has(name) || beginnings.some((beginning) => name.startsWith(beginning))) return true
  }
  return false
}
