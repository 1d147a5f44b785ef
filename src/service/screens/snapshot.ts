import { writeSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import type { ExecutionId } from "../../execution/id.ts"
import type { TranscriptFacts } from "../../execution/record.ts"
import { TerminalSize } from "../../execution/spec.ts"
import { isErrno } from "../../lib/errno.ts"
import { readOwned, replaceOwned } from "../../lib/owned-file.ts"
import { tryParseJson } from "../../lib/parse-json.ts"
import { UntrustedFileError } from "../../lib/untrusted-file.ts"
import { ReadPosition } from "../../protocol/screens-ipc.ts"

/** Of a screen and its scrollback, with every cell in a colour of its own. */
const mostBytes = 64 * 1024 * 1024

/** Another version of it may mean something else by the same text. */
const format = "screen 1"

/** A screen as it was at a place in the transcript: reading goes on there, not from the start. */
const Snapshot = z.object({
  format: z.literal(format),
  position: ReadPosition,
  size: TerminalSize,
  title: z.string(),
  complete: z.boolean(),
  text: z.string(),
})
export type Snapshot = Omit<z.infer<typeof Snapshot>, "format">

/** Null where there is none that helps: then the transcript is read from farther back. */
export function readSnapshot(
  transcripts: string,
  id: ExecutionId,
  { start, end }: TranscriptFacts,
): Snapshot | null {
  const snapshot = Snapshot.safeParse(readJson(snapshotPath(transcripts, id))).data
  const sequence = snapshot?.position.sequence ?? -1
  return snapshot !== undefined && sequence >= start.sequence && sequence <= end.sequence
    ? snapshot
    : null
}

/** False where it cannot be written: the disk is full, or the transcript is gone. */
export function writeSnapshot(transcripts: string, id: ExecutionId, snapshot: Snapshot): boolean {
  const bytes = Buffer.from(JSON.stringify({ format, ...snapshot }))
  try {
    const write = (file: number) => {
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
    }
    replaceOwned(snapshotPath(transcripts, id), write, { durable: false })
    return true
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "EROFS")) return false
    if (error instanceof UntrustedFileError) return false
    throw error
  }
}

function readJson(path: string): unknown {
  try {
    const bytes = readOwned(path, mostBytes)
    return bytes === null ? undefined : tryParseJson(bytes.toString())
  } catch (error) {
    if (error instanceof UntrustedFileError) return undefined
    throw error
  }
}

function snapshotPath(transcripts: string, id: ExecutionId): string {
  return join(transcripts, id, "screen.json")
}
