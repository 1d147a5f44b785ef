type Where = { hosts: readonly string[]; port: number }

/** Why nobody can listen somewhere, and what to do. */
export function listenErrorText(error: unknown, where: Where): string {
  const code = listenErrorCode(error)
  const address = `${where.hosts.join(", ")} port ${where.port}`
  switch (code) {
    case "EADDRINUSE":
      return (
        `${address} is in use by another program. ` +
        "Choose another port with --port, or end that program."
      )
    case "EACCES":
      return `${address} is not permitted for this user. Choose a port above 1023 with --port.`
    case "EADDRNOTAVAIL":
      return `${address} is not an address of this machine. Choose another one with --host.`
    default:
      return `Cannot listen on ${address}: ${error instanceof Error ? error.message : code}.`
  }
}

export function listenErrorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "EIO"
}

/** As in most containers: `localhost` is 127.0.0.1 alone then. */
export function isWithoutIpv6(error: unknown, host: string, hosts: readonly string[]): boolean {
  const isAbsent = ["EADDRNOTAVAIL", "EAFNOSUPPORT"].includes(listenErrorCode(error))
  return isAbsent && host === "::1" && hosts.includes("127.0.0.1")
}
