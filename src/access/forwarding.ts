/** Headers by which proxies say for whom they speak. */
const forwardingHeaders = [
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-forwarded-server",
  "x-real-ip",
  "x-client-ip",
  "x-original-forwarded-for",
  "x-cluster-client-ip",
  "cf-connecting-ip",
  "true-client-ip",
  "fastly-client-ip",
  "fly-client-ip",
]

/** A proxy on loopback makes the whole internet local: what it passes on is not this machine's. */
export function isForwarded(headers: { has(name: string): boolean }): boolean {
  return forwardingHeaders.some((name) => headers.has(name))
}
