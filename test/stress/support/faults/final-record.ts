import { type Receipt, Receipt as ReceiptSchema } from "../../../../src/execution/receipt.ts"
import type { StreamName } from "../../../../src/execution/record.ts"
import type { ExecutionView } from "../../../../src/protocol/execution-view.ts"
import type { ResultOf } from "../../../../src/protocol/methods.ts"
import { verifyReceipt } from "../../../../src/service/storage/journal/receipt-signing.ts"
import {
  loadOrCreateSigningKey,
  publicKeyPem,
} from "../../../../src/service/storage/journal/signing-key.ts"
import type { Service } from "../../../support/service.ts"
import { StreamClient } from "../../../support/stream-client.ts"

type Kept = {
  /** The place of the first byte; the end of all output where nothing is kept. */
  from: number
  pieces: Array<{ stream: StreamName; bytes: Buffer }>
  /** All of them, and of which stream each byte is. */
  bytes: Buffer
  streams: Buffer
}

/** What the service says in the end of one execution, by every way there is to ask. */
export type FinalRecord = {
  view: ExecutionView
  receipt: Receipt | null
  verdict: ResultOf<"transcript.verify">
  /** What is kept of the output, both streams as they came. */
  kept: Kept
  /** Standard output over HTTP; null where its beginning is forgotten. */
  raw: Buffer | null
}

/** Every execution there is, oldest last. */
export async function listAll(service: Service): Promise<ExecutionView[]> {
  using client = await StreamClient.connect(await service.url())
  const { executions } = await client.call("list", { limit: 1000 })
  return executions
}

export async function finalRecord(service: Service, view: ExecutionView): Promise<FinalRecord> {
  using client = await StreamClient.connect(await service.url())
  const { execution_id } = view
  const key = loadOrCreateSigningKey(service.stateDir)
  if (!key.ok) throw new Error(key.failure.message)
  const signed = await client.call("receipt", { execution_id })
  const checked = verifyReceipt(signed, publicKeyPem(key.value), null)
  const answer = await fetch(await service.url(`/executions/${execution_id}/output`))
  return {
    view: await client.call("status", { execution_id }),
    receipt: checked.kind === "valid" ? ReceiptSchema.parse(checked.receipt) : null,
    verdict: await client.call("transcript.verify", { execution_id }),
    kept: await readKept(client, view),
    raw: answer.ok ? Buffer.from(await answer.arrayBuffer()) : null,
  }
}

export const streamNumbers: Record<StreamName, number> = { stdout: 1, stderr: 2 }

async function readKept(
  client: StreamClient,
  { execution_id, bytes: written }: ExecutionView,
): Promise<Kept> {
  const pieces: Kept["pieces"] = []
  let from: number | null = null
  let next = "start"
  while (true) {
    const request = { execution_id, from: next, encoding: "base64" } as const
    const page = await client.call("transcript.read", request)
    from ??= page.chunks[0]?.sequence ?? null
    for (const { type, data } of page.chunks) {
      pieces.push({ stream: type, bytes: Buffer.from(data, "base64") })
    }
    if (page.ended || page.next === next) break
    next = page.next
  }
  const bytes = Buffer.concat(pieces.map((piece) => piece.bytes))
  const numbers = pieces.map(({ stream, bytes: { length } }) =>
    Buffer.alloc(length, streamNumbers[stream]),
  )
  return {
    from: from ?? written.stdout + written.stderr,
    pieces,
    bytes,
    streams: Buffer.concat(numbers),
  }
}
