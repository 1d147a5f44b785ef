import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ExecutionId } from "../../../../src/execution/id.ts"
import {
  type StreamName,
  startOfTranscript,
  type TranscriptFacts,
} from "../../../../src/execution/record.ts"
import type { Budget } from "../../../../src/execution/spec.ts"
import type {
  Piece,
  ReadPosition,
  TranscriptReader,
} from "../../../../src/service/gateway/ports.ts"
import type { TranscriptStore } from "../../../../src/service/keeper/ports.ts"
import { createTranscriptReader } from "../../../../src/service/storage/transcript/read/reader.ts"
import { createTranscriptStore } from "../../../../src/service/storage/transcript/store.ts"

export const executionId: ExecutionId = "abcdefghijklmnopqrstuvwxyz"
export const roomy: Budget = { bytes: 1024 * 1024, lines: null, policy: "drop-oldest" }
export const noon = new Date("2026-11-16T12:00:00.000Z")
export const start: ReadPosition = { ...startOfTranscript, inside: 0 }

export type TemporaryTranscripts = Disposable & {
  directory: string
  store: TranscriptStore
  reader: TranscriptReader
}

export function temporaryTranscripts(): TemporaryTranscripts {
  const directory = mkdtempSync(join(tmpdir(), "transcripts-"))
  return {
    directory,
    store: createTranscriptStore(directory),
    reader: createTranscriptReader(directory),
    [Symbol.dispose]() {
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Of all files that the transcript has below this directory. */
export function bytesOnDisk(transcriptsDirectory: string): number {
  const directory = join(transcriptsDirectory, executionId)
  if (!existsSync(directory)) return 0
  const sizes = readdirSync(directory).map((name) => statSync(join(directory, name)).size)
  return sizes.reduce((sum, size) => sum + size, 0)
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** Every piece from a place to the end of the facts, with a copy of its bytes. */
export function piecesFrom(
  reader: TranscriptReader,
  position: ReadPosition,
  facts: TranscriptFacts,
  mostBytes?: () => number,
): Piece[] {
  const pieces: Piece[] = []
  let at = position
  for (;;) {
    const outcome = reader.read(executionId, at, facts, mostBytes?.())
    if (outcome.kind === "at-end") return pieces
    if (outcome.kind !== "piece") throw new Error(`read: ${JSON.stringify(outcome)}`)
    if (outcome.piece.bytes.length === 0) throw new Error("an empty piece")
    pieces.push({ ...outcome.piece, bytes: outcome.piece.bytes.slice() })
    at = outcome.piece.next
  }
}

export function textOf(pieces: Piece[], stream?: StreamName): string {
  const wanted = pieces.filter((piece) => stream === undefined || piece.stream === stream)
  return Buffer.concat(wanted.map(({ bytes }) => bytes)).toString("latin1")
}

export function countOf(text: string): { bytes: number; lines: number } {
  return { bytes: text.length, lines: text.split("\n").length - 1 }
}
