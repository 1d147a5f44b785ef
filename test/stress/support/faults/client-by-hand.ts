import type { ReceivedOutput } from "../../../support/received-output.ts"
import { StreamClient } from "../../../support/stream-client.ts"
import { type Account, type ObservedExecution, ObservedOutput } from "./observations.ts"

const retryMs = 20

/** Asks for an execution and follows it to its end, as a stranger's program would. */
export async function ownByHand(url: string, observed: ObservedExecution): Promise<void> {
  const account = observed.account("its owner, by hand")
  const outputs = new OneOutput(account)
  while (account.end === null && !observed.isOver) {
    const client = new StreamClient(url, outputs)
    const isOver = await Promise.race([
      converse(client, observed, account).catch(() => false),
      client.closed.then(() => false),
    ])
    client.cut()
    if (isOver) break
    await Bun.sleep(retryMs)
  }
  account.faults.push(...outputs.output.faults)
}

/** One connection's worth; true when there is nothing more to hear. */
async function converse(
  client: StreamClient,
  observed: ObservedExecution,
  account: Account,
): Promise<boolean> {
  await client.greeting
  const { key, work, encoding } = observed.planned
  const [id] = observed.ids
  if (id === undefined) {
    const request = { ...work.request, encoding, labels: { key }, idempotency_key: key }
    const reason = await client.call("execute", request).then(
      ({ execution_id }) => {
        observed.answered(execution_id)
        return null
      },
      (error: unknown) => reasonOf(error),
    )
    if (reason === "SHUTTING_DOWN") return false // the keeper is gone: the next one is asked
    if (reason !== null) {
      observed.refused(reason)
      return reason !== "DISK_FULL"
    }
  } else {
    const role = work.request.on_disconnect === "cancel" ? "driver" : "observer"
    await client.attach({ execution_id: id, encoding, role })
  }
  while (account.end === null && !observed.isOver) await Bun.sleep(5)
  return true
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && "reason" in error) return String(error.reason)
  throw error
}

/** Whatever comes is about the one execution that this client knows. */
class OneOutput extends Map<string, ReceivedOutput> {
  readonly output: ObservedOutput

  constructor(account: Account) {
    super()
    this.output = new ObservedOutput(account)
  }

  override get(): ReceivedOutput {
    return this.output
  }

  override values(): MapIterator<ReceivedOutput> {
    return new Map([["", this.output]]).values()
  }
}
