import { principalOfTarget } from "../../../execution/notify-target.ts"
import { type ExecutionRecord, hasEnded } from "../../../execution/record.ts"
import { delay } from "../../../lib/delay.ts"
import { ExecuteParams } from "../../../protocol/execute.ts"
import type { KeeperLink } from "../operations/keeper-link.ts"
import type { PendingDelivery } from "../outbox-port.ts"
import type { JournalReader } from "../ports.ts"
import { type Attempted, delivered, failed } from "./attempt.ts"
import type { Message } from "./message.ts"

const timeoutS = 30
const lookMs = 50
const mostOutputBytes = 65_536

type Ports = { link: Pick<KeeperLink, "call">; journal: Pick<JournalReader, "find"> }

/**
 * Runs a command as an execution like any other, so that policy, limits, containment and record are
 * those of every command; the message is its standard input, never a word of it. Whoever comes back
 * after a crash finds the execution of this attempt by its key.
 */
export async function runCommand(
  argv: readonly string[],
  message: Message,
  { id, target, attempts }: PendingDelivery,
  { link, journal }: Ports,
  ended: AbortSignal,
): Promise<Attempted> {
  const origin = { principal: principalOfTarget(target), address: "-", via: "notification" }
  const request = ExecuteParams.parse({
    argv,
    stdin: "pipe",
    timeout: timeoutS,
    budget: { bytes: mostOutputBytes },
    limits: { output: mostOutputBytes },
    labels: { notification: id },
    idempotency_key: `${id}-${attempts + 1}`,
  })
  const started = await link.call("start", { origin, exempt: true, request, follow: false })
  if (!started.ok) return failed(started.failure.message)
  const { record } = started.value
  if (!hasEnded(record)) await give(record, message, origin, link)
  const last = await untilEnded(record, { link, journal }, ended)
  return last === null ? failed("the service ended meanwhile") : outcomeOf(last)
}

/** Repeated after a crash, it is written once: the offset says what came before. */
async function give(
  { id: executionId, state }: ExecutionRecord,
  { json }: Message,
  origin: { principal: string; address: string; via: string },
  link: Ports["link"],
): Promise<void> {
  const data = Buffer.from(`${JSON.stringify(json)}\n`).toString("base64")
  const input = { origin, executionId, data, end: true, writer: "notification", offset: 0 }
  for (let { kind } = state; kind === "queued" || kind === "starting"; ) {
    await delay(lookMs)
    const found = await link.call("find", { executionId })
    kind = found.ok && found.value.record !== null ? found.value.record.state.kind : "ended"
  }
  // It may have closed its input, or be gone: its exit code says what came of it.
  await link.call("input", input)
}

async function untilEnded(
  { id }: ExecutionRecord,
  { link, journal }: Ports,
  ended: AbortSignal,
): Promise<ExecutionRecord | null> {
  while (!ended.aborted) {
    const found = journal.find(id)
    if (found === null || hasEnded(found)) return found
    const live = await link.call("find", { executionId: id })
    if (!live.ok) return null
    await delay(lookMs, ended)
  }
  return null
}

function outcomeOf({ state }: ExecutionRecord): Attempted {
  if (state.kind !== "ended") return failed("it has not ended")
  const { outcome } = state
  switch (outcome.kind) {
    case "exited":
      if (outcome.exitCode === 0) return delivered(0)
      return failed(`the command exited with ${outcome.exitCode}`, outcome.exitCode)
    case "signaled":
      return failed(`the command was ended by ${outcome.signal}`)
    case "stopped":
      return failed(`the command was stopped (${outcome.cause})`)
    case "failed-to-start":
      return failed(`the command could not be started (${outcome.errno})`)
    case "lost":
      return failed("the command was lost with the service")
  }
}
