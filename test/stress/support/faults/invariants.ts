import type { StreamName } from "../../../../src/execution/record.ts"
import type { Completed } from "../../../../src/protocol/notifications.ts"
import { type FinalRecord, streamNumbers } from "./final-record.ts"
import type { Account, ObservedExecution } from "./observations.ts"
import type { Work } from "./work.ts"

const lineEnd = 10

/** What may have cut an execution short, besides itself and its clients. */
export type Interference = { keeperDied: boolean; diskWasFull: boolean }

/** Everything about one execution in which the record contradicts what was told, or itself. */
export function contradictions(
  observed: ObservedExecution,
  record: FinalRecord,
  interference: Interference,
): string[] {
  const wrong = [
    ...endOf(observed, record, interference),
    ...outputOf(observed, record, interference),
    ...attestation(record, interference),
    ...observed.accounts.flatMap((account) => [
      ...againstRecord(account, record),
      ...gapsOf(account, observed.planned.work.writes),
    ]),
  ]
  return wrong.map((one) => `"${observed.planned.key}" (${record.view.execution_id}): ${one}`)
}

/** Invariants 2 and 5: an end, with a cause, that nobody made up. */
function endOf(
  observed: ObservedExecution,
  { view }: FinalRecord,
  interference: Interference,
): string[] {
  const { ending, state } = view
  if (state !== "ended" || ending === null) return [`it is ${state}, and will be for ever`]
  const how = JSON.stringify(ending)
  if (view.survivors.length > 0) return [`survivors: ${JSON.stringify(view.survivors)}`]
  switch (ending.outcome) {
    case "lost": {
      const isTold = ending.reason !== null && ending.exit_code === null && ending.signal === null
      if (!interference.keeperDied) return [`lost, and no keeper died: ${how}`]
      return isTold ? [] : [`lost without a reason, or with a made-up exit: ${how}`]
    }
    case "stopped":
      if (ending.cause === "disk-full" && interference.diskWasFull) return []
      return asPlanned(observed, view)
    case "exited":
    case "signaled":
    case "failed-to-start":
      return asPlanned(observed, view)
  }
}

function asPlanned({ planned }: ObservedExecution, { ending }: FinalRecord["view"]): string[] {
  const isAsPlanned =
    typeof planned.work.ending === "object" && Bun.deepMatch(planned.work.ending, { ...ending })
  const wanted = JSON.stringify(planned.work.ending)
  return isAsPlanned ? [] : [`ended as ${JSON.stringify(ending)}, not as ${wanted}`]
}

/** Invariant 1: bytes out of the transcript are the bytes the child wrote. */
function outputOf(
  { planned, inputTaken }: ObservedExecution,
  record: FinalRecord,
  { diskWasFull }: Interference,
): string[] {
  const { view, kept, raw } = record
  const { ending } = view
  const { writes, request } = planned.work
  const isWhole = ending?.outcome === "exited" || ending?.outcome === "signaled"
  const wrong: string[] = []
  for (const stream of ["stdout", "stderr"] as const) {
    const written = writes[stream]
    const bytes = keptOf(kept, stream)
    const from = view.bytes[stream] - bytes.length
    if (written === null) continue
    if (!written.subarray(from, from + bytes.length).equals(bytes)) {
      wrong.push(`${bytes.length} bytes of ${stream} from ${from} are not what it wrote`)
    }
    const isFromStart = view.dropped.bytes === 0
    if (isFromStart && view.hashes !== null && view.hashes[stream] !== sha256(bytes)) {
      wrong.push(`the hash of ${stream} is not that of its bytes`)
    }
  }
  // After its leader's exit a full disk changes no outcome: then the loss is at least counted.
  const unrecorded = diskWasFull ? view.dropped.bytes - kept.from : 0
  const recorded = view.bytes.stdout + view.bytes.stderr
  const total = (writes.stdout?.length ?? Number.NaN) + (writes.stderr?.length ?? Number.NaN)
  if (isWhole && !Number.isNaN(total) && recorded + unrecorded !== total) {
    wrong.push(`${recorded} bytes and ${unrecorded} counted as lost, but it wrote ${total}`)
  }
  if (raw !== null && !raw.equals(keptOf(kept, "stdout"))) {
    wrong.push(`${raw.length} bytes over HTTP are not the transcript's`)
  }
  const isToldToBeOld = /; input .*is not counted/.test(ending?.reason ?? "")
  if (request.stdin === "pipe" && view.stdin_bytes < inputTaken && !isToldToBeOld) {
    wrong.push(`took ${view.stdin_bytes} bytes of input, but told of ${inputTaken}`)
  }
  return wrong
}

function attestation(record: FinalRecord, { diskWasFull }: Interference): string[] {
  const { view, kept, receipt, verdict } = record
  const { dropped, ending, hashes } = view
  const chain = kept.from === 0 ? "intact" : `intact from ${kept.from}`
  const wrong: string[] = []
  if (!verdict.verified || verdict.chain !== chain) {
    wrong.push(`it does not verify, but should be ${chain}: ${JSON.stringify(verdict)}`)
  }
  // On a full disk, what could not be recorded is counted besides what is forgotten.
  const isCounted = diskWasFull ? dropped.bytes >= kept.from : dropped.bytes === kept.from
  if (!isCounted) wrong.push(`${kept.from} bytes are forgotten, ${dropped.bytes} told as dropped`)
  if (receipt === null) return [...wrong, "its receipt is not validly signed"]
  if (receipt.outcome.kind !== ending?.outcome) wrong.push("its receipt tells of another end")
  if (!Bun.deepEquals(receipt.hashes, hashes)) wrong.push("its receipt has other hashes")
  return wrong
}

/** What one follower was told. */
function againstRecord(account: Account, record: FinalRecord): string[] {
  const { view, kept } = record
  const wrong = [...account.faults]
  const end = kept.from + kept.bytes.length
  for (const { stream, at, bytes } of account.pieces) {
    if (at + bytes.length > end) {
      wrong.push(`had ${stream} up to ${at + bytes.length}, but the record ends at ${end}`)
      break
    }
    if (at < kept.from) continue // the record has forgotten what this follower has
    const start = at - kept.from
    const number = streamNumbers[stream]
    const isSame =
      kept.bytes.subarray(start, start + bytes.length).equals(bytes) &&
      kept.streams.subarray(start, start + bytes.length).every((one) => one === number)
    if (!isSame) {
      wrong.push(`had other bytes of ${stream} at ${at}`)
      break
    }
  }
  for (const { at, bytes } of account.gaps) {
    if (at + bytes > kept.from) wrong.push(`was told of a gap at ${at} in what is still kept`)
  }
  if (account.end !== null) wrong.push(...againstEnd(account, account.end, view))
  return wrong.map((one) => `${account.who}: ${one}`)
}

/** A gap tells exactly what was missed. Only works that write to one stream have any. */
function gapsOf({ who, gaps }: Account, { stdout }: Work["writes"]): string[] {
  return gaps.flatMap(({ at, bytes, lines }) => {
    const missed = stdout?.subarray(at, at + bytes).filter((byte) => byte === lineEnd).length
    return missed === lines ? [] : [`${who}: a gap of ${missed} lines was told as ${lines}`]
  })
}

function againstEnd(account: Account, observed: Completed, view: FinalRecord["view"]): string[] {
  const { outcome, exit_code, signal, cause, reason, bytes, lines, dropped, hashes } = observed
  const ending = { outcome, exit_code, signal, cause, reason }
  const facts = { ending, bytes, lines, dropped, hashes, survivors: observed.survivors }
  const wrong = Object.entries(facts).flatMap(([name, fact]) => {
    const final = new Map<string, unknown>(Object.entries(view)).get(name)
    if (Bun.deepEquals(fact, final)) return []
    return [`was told ${name} ${JSON.stringify(fact)}, but it is ${JSON.stringify(final)}`]
  })
  const total = bytes.stdout + bytes.stderr
  if (account.position !== total) {
    wrong.push(`had or missed ${account.position} bytes before the end, of ${total}`)
  }
  return wrong
}

function keptOf({ pieces }: FinalRecord["kept"], stream: StreamName): Buffer {
  return Buffer.concat(pieces.filter((piece) => piece.stream === stream).map(({ bytes }) => bytes))
}

function sha256(bytes: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex")
}
