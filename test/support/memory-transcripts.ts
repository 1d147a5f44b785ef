import type { ExecutionId } from "../../src/execution/id.ts"
import type { RecoveredTranscript, TranscriptStore } from "../../src/service/keeper/ports.ts"
import { noTotals } from "../../src/service/storage/transcript/store.ts"

/** Transcripts that are only names and what a recovery would find of them. */
export class MemoryTranscripts implements TranscriptStore {
  readonly totals = noTotals()
  readonly removed: ExecutionId[] = []
  readonly #found: Map<ExecutionId, RecoveredTranscript | null>

  constructor(found: Array<[ExecutionId, RecoveredTranscript | null]> = []) {
    this.#found = new Map(found)
  }

  create(): never {
    throw new Error("nothing is written here")
  }

  resume(): never {
    throw new Error("nothing was handed over here")
  }

  recover(id: ExecutionId): RecoveredTranscript | null {
    return this.#found.get(id) ?? null
  }

  remove(id: ExecutionId): void {
    this.removed.push(id)
    this.#found.delete(id)
  }

  all(): ExecutionId[] {
    return [...this.#found.keys()]
  }
}
