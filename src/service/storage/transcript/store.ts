import { mkdirSync, readdirSync, rmSync } from "node:fs"
import { ExecutionId } from "../../../execution/id.ts"
import { SerialQueue } from "../../../lib/serial-queue.ts"
import type { RecordedTotals, TranscriptStore } from "../../keeper/ports.ts"
import { filesOf } from "./segment-files.ts"
import { createRecordBuffer } from "./write/record-buffer.ts"
import { recoverTranscript } from "./write/recover.ts"
import { resumeWriting } from "./write/resume.ts"
import { createTranscriptWriter } from "./write/writer.ts"

/** Transcripts below one directory, each in a directory of its execution's name. */
export function createTranscriptStore(directory: string): TranscriptStore {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const totals = noTotals()
  const shared = { buffer: createRecordBuffer(), totals }
  const resuming = new SerialQueue()
  return {
    totals,
    create: (id, budget, onForget) =>
      createTranscriptWriter(filesOf(directory, id), budget, shared, onForget),
    // One after the other: going through one takes half a mebibyte and all of a processor.
    async resume(id, budget, handed, onForget) {
      const files = filesOf(directory, id)
      const written = await resuming.run(() => resumeWriting(files, handed))
      return createTranscriptWriter(files, budget, shared, onForget, written)
    },
    recover: (id) => recoverTranscript(filesOf(directory, id)),
    remove(id) {
      // What is about to be deleted with all that is in it must be the name of one transcript.
      const files = filesOf(directory, ExecutionId.parse(id))
      rmSync(files.directory, { recursive: true, force: true })
    },
    all: () => readdirSync(directory).filter((name) => ExecutionId.safeParse(name).success),
  }
}

export function noTotals(): RecordedTotals {
  const nothing = () => ({ bytes: 0, lines: 0 })
  return { stdout: nothing(), stderr: nothing(), forgotten: nothing(), unrecorded: nothing() }
}
