import { createHash } from "node:crypto"
import type { Digest } from "../../execution/trial/announcement.ts"

/**
 * The version of a work: the digest of its lines without what editors change unasked, which is
 * line ends, blanks at the end of a line, and empty lines at the end.
 */
export function versionOf(lines: readonly string[]): Digest {
  const text = lines.map((line) => line.replace(/[ \t\r]+$/, "")).join("\n")
  const plain = text.replace(/\n+$/, "")
  return createHash("sha256").update(plain).digest("hex")
}
