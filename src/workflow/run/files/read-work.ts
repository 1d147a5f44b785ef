import { readFileSync, realpathSync, statSync } from "node:fs"
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
  const { path, bytes } = orUnreadable(given, () => {
    // A link to a work stays one: what it leads to is written.
    const target = realpathSync(given)
    return { path: target, bytes: bytesOf(target) }
  })
  const text = decodeWork(bytes)
  if (!text.ok) throw new WorkFailure(`${path}, ${faultText(text.failure)}.`)
  const work = readWork(text.value)
  if (!work.ok) throw new WorkFailure(`${path}, ${faultText(work.failure)}.`)
  const name = work.value.settings.name ?? basename(path, extname(path))
  const ledgerPath = ledgerPathOf(path)
  return { path, bytes, text: text.value, work: work.value, name, ledgerPath }
}

function bytesOf(path: string): Buffer {
  const stat = statSync(path)
  // Others may have no end.
  if (!stat.isFile()) throw new WorkFailure(`${path} is not a file.`)
  if (stat.size > mostBytes) {
    throw new WorkFailure(`${path} has ${stat.size} bytes: a work has at most ${mostBytes}.`)
  }
  return readFileSync(path)
}

function orUnreadable<Value>(path: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    throw new WorkFailure(`${path} cannot be read (${errno}).`)
  }
}
