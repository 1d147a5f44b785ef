import { z } from "zod"
import { type TextForm, textForm } from "./text-form.ts"

const allowed = "localhost, or IP addresses separated by commas"

/**
 * Addresses to listen on. Names other than localhost are not taken: what they mean can change
 * between this check for loopback and the bind.
 */
export function listenHosts(): TextForm<string[]> {
  return textForm("<addresses>", allowed, (text) => {
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
