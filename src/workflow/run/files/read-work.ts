import { readFileSync, realpathSync } from "node:fs"
import { basename, extname } from "node:path"
import { errnoOf } from "../../../lib/errno.ts"
import { decodeWork, faultText } from "../../documents/fault.ts"
import { readWork, type Work } from "../../documents/work-kind.ts"
import { ledgerPathOf } from "../../ledger/ledger-text.ts"
import { WorkFailure } from "../work-failure.ts"

/** A work as it stands in its file. */
export type ReadWork = {
  readonly path: string
  readonly bytes: Uint8Array
  readonly text: string
  readonly work: Work
  readonly name: string
  readonly ledgerPath: string
}

const mostBytes = 16 * 1024 * 1024

export function readWorkFile(given: string): ReadWork {
  const path = realPath(given)
  const bytes = readFileSync(path)
  if (bytes.length > mostBytes) {
    throw new WorkFailure(`${path} has ${bytes.length} bytes: a work has at most ${mostBytes}.`)
  }
  const text = decodeWork(bytes)
  if (!text.ok) throw new WorkFailure(`${path}, ${faultText(text.failure)}.`)
  const work = readWork(text.value)
  if (!work.ok) throw new WorkFailure(`${path}, ${faultText(work.failure)}.`)
  const name = work.value.settings.name ?? basename(path, extname(path))
  const ledgerPath = ledgerPathOf(path)
  return { path, bytes, text: text.value, work: work.value, name, ledgerPath }
}

/** A link to a work stays one: what it leads to is written. */
function realPath(given: string): string {
  try {
    return realpathSync(given)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    throw new WorkFailure(`${given} cannot be read (${errno}).`)
  }
}

export function readLedger(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return ""
    throw error
  }
}
