import { randomBytes } from "node:crypto"
import { executionIdFrom } from "../../../execution/id.ts"
import type { ExecutionRecord } from "../../../execution/record.ts"
import { base32 } from "../../../lib/base32.ts"
import { holdsSocket, isAlive, readStat } from "../../os/proc.ts"
import { createTranscriptReader } from "../../storage/transcript/read/reader.ts"
import type { Clock } from "../ports.ts"
import type { Processes, TrialPorts } from "../trials/trial-ports.ts"
import { Trials } from "../trials/trials.ts"
import type { ServiceStorage } from "./open-storage.ts"

type OfKeeper = Pick<TrialPorts, "live" | "cancel" | "withReserve" | "withoutReserve" | "judged">

export function openTrials(
  { state, journal, redaction, attestations }: ServiceStorage,
  clock: Clock,
  keeper: OfKeeper,
): Trials {
  const reader = createTranscriptReader(state.paths.transcripts)
  return new Trials({
    ...keeper,
    store: journal.trials,
    journal,
    clock,
    redaction,
    signer: attestations,
    processes,
    newId: () => executionIdFrom(randomBytes(16)),
    newSecret: () => base32(randomBytes(16)),
    tail,
  })

  function tail({ id, transcript }: ExecutionRecord, bytes: number): string {
    let position = reader.tail(id, transcript, { bytes })
    let text = ""
    for (;;) {
      const read = reader.read(id, position, transcript)
      if (read.kind !== "piece") return text
      const { stream, bytes: piece, next } = read.piece
      if (stream === "stdout") text += Buffer.from(piece).toString("latin1")
      position = next
    }
  }
}

const processes: Processes = { isAlive: (pid) => isAlive(readStat(pid)), holdsSocket }
