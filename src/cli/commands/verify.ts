import { readFileSync } from "node:fs"
import { CallError } from "../../client/client-error.ts"
import type { Claim } from "../../execution/verdict.ts"
import { type Arguments, flag, option } from "../arguments.ts"
import { command } from "../command.ts"
import { type Address, addressOf, addressOptions } from "../connect/address.ts"
import { type Reached, tryReach } from "../connect/reach.ts"
import type { Context } from "../context.ts"
import { orFail, UsageFailure } from "../failure.ts"
import { checkReceipt, type Keys } from "../verify/check-receipt.ts"
import { ownPublicKey } from "../verify/own-public-key.ts"
import { type Verdict, verdictLines, verdictOf } from "../verify/verdict.ts"
import { verifyFiles, verifyStored } from "../verify/verify-offline.ts"
import { namedWork, verifyFile } from "../work/verify-file.ts"

const options = {
  contains: option("TEXT", "text that the output should contain"),
  hash: option("SHA256", "the expected hash of the chain, stdout or stderr"),
  executed: option("TEXT", "text that a tool in an agent's session should have written"),
  "public-key": option("FILE", "the public key to trust (PEM)"),
  receipt: option("FILE", "a saved receipt; needs no service"),
  transcript: option("DIR", "the transcript that the receipt is about"),
  rerun: flag("of a task list: run the checks of what is done again, without an agent"),
  offline: flag("read the local files even if a service is running"),
  json: flag("one JSON document"),
  ...addressOptions,
}

type VerifyValues = Arguments<typeof options>["values"]

export const verifyCommand = command({
  usage: [
    "verify [OPTIONS] ID",
    "verify [--rerun] FILE",
    "verify --receipt FILE [--transcript DIR] [--public-key FILE]",
  ],
  about: `\
Recomputes every hash of the transcript, checks the receipt's signature, and confirms or refutes
the claim. Exits with 0 if everything holds, otherwise with 1. Asks the service, or reads the state
directory itself if none is running.

Of a prompt or a task list, it checks the counts and ticks in the file against its ledger, and the
ledger against the service's journal. --rerun unticks what is broken by now.`,
  options,
  examples: {
    "does the output contain this text?":
      "cc-executor verify --contains 'all tests passed' 7kq2mfa4",
    "did a tool of this agent's session write it?":
      "cc-executor verify --executed 'all tests passed' m4xw7ezh",
    "are these boxes ticked rightly?": "cc-executor verify TASKS.md",
    "later, without a service": "cc-executor verify --receipt r.json --public-key key.pem",
  },
  operands: { atLeast: 0, atMost: 1, what: "The execution id or file" },
  async run(context, { values, operands }) {
    const path = operands[0] === undefined ? null : namedWork(context, operands[0])
    if (path !== null) {
      const trusted = values["public-key"]
      return verifyFile(context, path, values, trusted === undefined ? [] : [readText(trusted)])
    }
    if (values.rerun === true) throw new UsageFailure("--rerun is for task lists.")
    const { contains, hash, executed } = values
    const claim = { contains, hash, executed }
    const verdict = await verdictFor(context, values, operands[0], claim)
    const text =
      values.json === true ? JSON.stringify(verdict) : verdictLines(verdict, claim).join("\n")
    await context.stdout.write(`${text}\n`)
    return verdict.verified ? 0 : 1
  },
})

async function verdictFor(
  context: Context,
  values: VerifyValues,
  id: string | undefined,
  claim: Claim,
): Promise<Verdict> {
  const address = addressOf(context, values)
  const keys = keysFor(values, address)
  if (values.receipt !== undefined) {
    if (id !== undefined)
      throw new UsageFailure("--receipt already names the execution: leave out the id.")
    return verifyFiles(readText(values.receipt), values.transcript, keys, claim)
  }
  if (id === undefined) throw new UsageFailure("The execution id, or --receipt, is missing.")
  if (values.transcript !== undefined) throw new UsageFailure("--transcript needs --receipt.")
  const reached = values.offline === true ? null : await tryReach(context, address, "never")
  if (reached === null) {
    if (address.kind === "local") return verifyStored(address.paths, id, keys, claim)
    throw new UsageFailure("--offline is for the local service: leave out --url.")
  }
  await using _reached = reached
  return await verifyOnline(reached, id, keys, claim)
}

function keysFor(values: VerifyValues, address: Address): Keys {
  const file = values["public-key"]
  if (file !== undefined) return { trusted: readText(file), own: null }
  const own = address.kind === "local" ? ownPublicKey(address.paths.receiptKey) : null
  return { trusted: null, own }
}

function readText(path: string): string {
  return orFail(
    () => readFileSync(path, "utf8"),
    (errno) => `${path} cannot be read (${errno}).`,
  )
}

async function verifyOnline(
  { client }: Reached,
  id: string,
  keys: Keys,
  claim: Claim,
): Promise<Verdict> {
  const { execution_id, hashes, placement } = await client.call("status", { execution_id: id })
  const { contains, hash, executed } = claim
  const transcript = await client.call("transcript.verify", {
    execution_id,
    ...(contains === undefined ? {} : { contains }),
    ...(hash === undefined ? {} : { hash }),
    ...(executed === undefined ? {} : { executed }),
  })
  try {
    const envelope = await client.call("receipt", { execution_id })
    const used = placement === undefined ? keys : await keysOfNode(client, placement.node, keys)
    const { check } = checkReceipt(envelope, used, { executionId: execution_id, hashes })
    return verdictOf(execution_id, transcript, check)
  } catch (error) {
    const isEarly = error instanceof CallError && error.failure.reason === "WRONG_STATE"
    if (!isEarly) throw error
    const why = "an execution gets one when it ends"
    return verdictOf(execution_id, transcript, { status: "unchecked", why })
  }
}

/** Each node of a fleet signs with a key of its own, which its certificate vouches for. */
async function keysOfNode(client: Reached["client"], node: string, keys: Keys): Promise<Keys> {
  if (keys.trusted !== null) return keys
  const { nodes } = await client.call("node.list", {})
  const told = nodes.find((one) => one.node === node)?.receipt_key
  return { ...keys, own: told ?? null }
}
