import type { Receipt } from "../../execution/receipt.ts"
import type { Outcome } from "../../execution/state.ts"
import { countText } from "../../lib/count-text.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import { commandText } from "../executions/execution-text.ts"
import { heldBy, labelText, processText, redactedText } from "../executions/fact-text.ts"
import { durationText, sizeText } from "../time.ts"

/** A receipt for people: what is not remarkable is left out. */
export function receiptLines(receipt: Receipt): string[] {
  const { spec, transcript, hashes, use } = receipt
  const { stdout, stderr, dropped } = transcript
  const paused = receipt.paused_ms > 0 ? `, paused for ${durationText(receipt.paused_ms)}` : ""
  const rows: [string, string | null][] = [
    ["execution", receipt.execution_id],
    ["command", commandText(spec)],
    ["directory", onOneLine(spec.cwd)],
    ["labels", labelText(spec.labels)],
    ["requested by", receipt.principal],
    ["asked", receipt.created_at],
    ["started", receipt.started_at],
    ["ended", receipt.ended_at],
    ["ran", `${durationText(receipt.running_ms)}${paused}`],
    ["outcome", outcomeText(receipt.outcome)],
    ["stdout", countedText(stdout)],
    ["stderr", countedText(stderr)],
    ["dropped", dropped.bytes === 0 ? null : countedText(dropped)],
    ["redacted", redactedText(receipt.redacted)],
    ["chain", hashes?.chain ?? "none: the record was lost before the execution ended"],
    ["sha256 stdout", hashes?.stdout ?? null],
    ["sha256 stderr", hashes?.stderr ?? null],
    ["processor", cpuText(use)],
    ["memory", use.memoryPeakBytes === null ? null : `${sizeText(use.memoryPeakBytes)} at peak`],
    ["containment", receipt.containment],
    ["user", userText(receipt.ran_as)],
    ["limits", limitText(spec)],
    ["stopped", processText(receipt.stopped)],
    ["left behind, ended", processText(receipt.killed_after_exit)],
    ["SURVIVED", survivorText(receipt.survivors)],
  ]
  const shown = rows.filter(([, text]) => text !== null)
  const width = Math.max(...shown.map(([name]) => name.length))
  return shown.map(([name, text]) => `${name.padEnd(width)}  ${text ?? ""}`)
}

function limitText({ limits, limitsHeldBy, outputLimitBytes }: Receipt["spec"]): string | null {
  const { memoryBytes, cpus, pids } = limits
  const held = [
    memoryBytes === null
      ? null
      : `memory ${sizeText(memoryBytes)}${heldBy(limitsHeldBy.memoryBytes)}`,
    cpus === null ? null : `cpu ${cpus}${heldBy(limitsHeldBy.cpus)}`,
    pids === null ? null : `pids ${pids}${heldBy(limitsHeldBy.pids)}`,
    outputLimitBytes === null ? null : `output ${sizeText(outputLimitBytes)}`,
  ].filter((text) => text !== null)
  return held.length === 0 ? null : held.join(", ")
}

function outcomeText(outcome: Outcome): string {
  switch (outcome.kind) {
    case "exited":
      return `exited with ${outcome.exitCode}`
    case "signaled":
      return `ended by ${outcome.signal}`
    case "stopped":
      return `stopped: ${outcome.cause}${outcome.exit === null ? ", before it started" : ""}`
    case "failed-to-start":
      return `not started: ${onOneLine(outcome.message)}`
    case "lost":
      return `lost: ${onOneLine(outcome.reason)}`
  }
}

/** The service's own user is not remarkable. */
function userText({ uid, user, same_user_as_service }: Receipt["ran_as"]): string | null {
  if (same_user_as_service) return null
  return user === undefined ? `uid ${uid}` : `${user} (uid ${uid})`
}

function cpuText({ cpuUserMs, cpuSystemMs }: Receipt["use"]): string | null {
  if (cpuUserMs === null || cpuSystemMs === null) return null
  return `${durationText(cpuUserMs)} user, ${durationText(cpuSystemMs)} system`
}

function survivorText(survivors: Receipt["survivors"]): string | null {
  if (survivors.length === 0) return null
  return survivors.map(({ pid, command }) => `${pid} ${onOneLine(command)}`).join(", ")
}

function countedText({ bytes, lines }: { bytes: number; lines: number }): string {
  return `${sizeText(bytes)}, ${countText(lines, "line")}`
}
