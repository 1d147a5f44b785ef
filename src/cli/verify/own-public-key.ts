import { createPublicKey } from "node:crypto"
import { errnoOf, isErrno } from "../../lib/errno.ts"
import { readOwned } from "../../lib/owned-file.ts"
import { CommandFailure } from "../failure.ts"

/** Far more than such a key takes. */
const mostKeyBytes = 64 * 1024

/** The public half of the key a local service signs with; null when it has made none yet. */
export function ownPublicKey(receiptKeyPath: string): string | null {
  const pem = readKeyFile(receiptKeyPath)
  if (pem === null) return null
  try {
    return createPublicKey(pem).export({ type: "spki", format: "pem" })
  } catch {
    // The parser's errors have no common kind, and all mean this.
    throw new CommandFailure(`${receiptKeyPath} is not a PEM key. Restore it from a backup.`)
  }
}

function readKeyFile(path: string): string | null {
  try {
    return readOwned(path, mostKeyBytes)?.toString("utf8") ?? null
  } catch (error) {
    if (isErrno(error, "ENOTDIR")) return null
    const errno = errnoOf(error)
    if (errno === null) throw error
    throw new CommandFailure(`The receipt key ${path} cannot be read (${errno}).`)
  }
}
