import { fail, ok, type Result } from "../../lib/result.ts"

/** What keeps a work from being read: where it is, and what is wrong there. */
export type DocumentFault = { line: number; column?: number; reason: string }

export function faultText({ line, column, reason }: DocumentFault): string {
  return `line ${line}${column === undefined ? "" : `, column ${column}`}: ${reason}`
}

/** The text of a work's file, which is refused where writing it back would not give its bytes. */
export function decodeWork(bytes: Uint8Array): Result<string, DocumentFault> {
  try {
    return ok(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return fail({ line: lineOfFirstFault(bytes), reason: "this is not UTF-8" })
  }
}

function lineOfFirstFault(bytes: Uint8Array): number {
  const read = new TextDecoder("utf-8").decode(bytes)
  const at = read.indexOf("\uFFFD")
  return read.slice(0, Math.max(at, 0)).split("\n").length
}
