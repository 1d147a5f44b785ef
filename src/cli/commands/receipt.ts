import { Receipt, type SignedReceipt } from "../../execution/receipt.ts"
import { tryParseJson } from "../../lib/parse-json.ts"
import { flag } from "../arguments.ts"
import { command } from "../command.ts"
import { type AddressValues, addressOf, addressOptions } from "../connect/address.ts"
import { reach } from "../connect/reach.ts"
import type { Context } from "../context.ts"
import { CommandFailure, UsageFailure } from "../failure.ts"
import { ownPublicKey } from "../verify/own-public-key.ts"
import { receiptLines } from "../verify/receipt-lines.ts"

export const receiptCommand = command({
  usage: ["receipt [OPTIONS] ID", "receipt --public-key"],
  about: `\
A receipt says what ran, when, how it ended, and the hashes of everything it wrote. It is signed,
and is kept after the transcript is gone.`,
  options: {
    json: flag("the signed envelope, for `verify --receipt`"),
    "public-key": flag("the local service's public key, for verifiers"),
    ...addressOptions,
  },
  examples: {
    readable: "cc-executor receipt 7kq2mfa4",
    "to keep and verify later": "cc-executor receipt --json 7kq2mfa4 > r.json",
    "for whoever verifies it": "cc-executor receipt --public-key > key.pem",
  },
  operands: { atLeast: 0, atMost: 1, what: "The execution id" },
  async run(context, { values, operands: [id] }) {
    if (values["public-key"] === true) return showPublicKey(context, values)
    if (id === undefined) throw new UsageFailure("The execution id is missing.")
    await using reached = await reach(context, values, "with-journal")
    const envelope = await reached.client.call("receipt", { execution_id: id })
    const text =
      values.json === true ? JSON.stringify(envelope) : receiptLines(payloadOf(envelope)).join("\n")
    await context.stdout.write(`${text}\n`)
    return 0
  },
})

async function showPublicKey(context: Context, values: AddressValues): Promise<number> {
  const address = addressOf(context, values)
  if (address.kind === "remote") {
    throw new CommandFailure(
      "A remote service does not give out its key: run this where the service is.",
    )
  }
  const pem = ownPublicKey(address.paths.receiptKey)
  if (pem === null)
    throw new CommandFailure("There is no key yet. The service creates one when it first starts.")
  await context.stdout.write(pem)
  return 0
}

function payloadOf(envelope: SignedReceipt): Receipt {
  const json = tryParseJson(Buffer.from(envelope.payload, "base64").toString("utf8"))
  const read = Receipt.safeParse(json)
  if (read.success) return read.data
  throw new CommandFailure(
    "This receipt cannot be read: it is of an unknown version, or none. Use --json to see it.",
  )
}
