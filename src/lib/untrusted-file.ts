import { errnoOf } from "./errno.ts"

/** A sentence about a file that is not used, and what to do. It has no errno: nothing failed. */
export class UntrustedFileError extends Error {
  override readonly name = "UntrustedFileError"
}

export function untrusted(path: string, why: string): UntrustedFileError {
  return new UntrustedFileError(
    `${path} ${why}. It is not used: find out who put it there, then remove it.`,
  )
}

/** Whether the system, or distrust, keeps from using a file: no bug, whatever it is. */
export function isFileTrouble(error: unknown): boolean {
  return error instanceof UntrustedFileError || errnoOf(error) !== null
}
