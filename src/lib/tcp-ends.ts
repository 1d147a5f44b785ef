/** The two ends of a TCP connection, as the server sees them. */
export type TcpEnds = {
  peer: { address: string; port: number }
  /** A wildcard where the server listens on all its addresses. */
  local: { address: string; port: number }
}

/** One spelling for an address, with IPv4 in IPv6 as IPv4. */
export function canonicalAddress(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!address.includes(":")) return address
  return URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) ?? address
}

export function isLoopbackAddress(address: string): boolean {
  const plain = canonicalAddress(address)
  return plain === "::1" || plain.startsWith("127.")
}

/** What a server listens on that listens on all addresses. */
export function isWildcard(address: string): boolean {
  return addressBytes(canonicalAddress(address)).every((byte) => byte === 0)
}

/** What one who has this address has: with IPv6 the whole /64. */
export function networkOf(address: string): string {
  const plain = canonicalAddress(address)
  return plain.includes(":") ? addressBytes(plain).slice(0, 8).join(".") : plain
}

/** The bytes of an address in its canonical spelling: four or sixteen. */
export function addressBytes(canonical: string): number[] {
  if (!canonical.includes(":")) return canonical.split(".").map(Number)
  const [head = "", tail = ""] = canonical.split("::")
  const groupsOf = (text: string) => (text === "" ? [] : text.split(":"))
  const before = groupsOf(head)
  const after = groupsOf(tail)
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0")
  return [...before, ...zeros, ...after].flatMap((group) => {
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 255]
  })
}
