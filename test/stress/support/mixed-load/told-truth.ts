import { Receipt } from "../../../../src/execution/receipt.ts"
import type { ExecutionRecord } from "../../../../src/execution/record.ts"
import { exitOf } from "../../../../src/execution/state.ts"
import type { Ending } from "../../../../src/protocol/execution-view.ts"
import type { Digest } from "../../../support/independent-run.ts"
import type { ReceivedOutput } from "../../../support/received-output.ts"
import type { StreamClient } from "../../../support/stream-client.ts"

/** What a client knows of an execution's end before anybody tells it. */
export type Truth = {
  ending: Partial<Ending>
  stdout?: Digest
  stderr?: Digest
  stdinBytes?: number
}

/**
 * Holds everything that a client was told against the receipt, and against what it knew itself.
 * Fails with all that does not fit.
 */
export async function expectTruth(
  client: StreamClient,
  id: string,
  output: ReceivedOutput,
  truth: Truth,
): Promise<void> {
  const completed = await output.completed
  const receipt = await receiptOf(client, id)
  const { transcript, hashes, outcome } = receipt
  const { bytes, lines, dropped, survivors } = completed
  const exit = exitOf(outcome)
  const wrong = [
    ...unlike("bytes", bytes, {
      stdout: transcript.stdout.bytes,
      stderr: transcript.stderr.bytes,
    }),
    ...unlike("lines", lines, {
      stdout: transcript.stdout.lines,
      stderr: transcript.stderr.lines,
    }),
    ...unlike("dropped", dropped, transcript.dropped),
    ...unlike("hashes", completed.hashes, hashes),
    ...unlike("survivors", survivors, receipt.survivors),
    ...unlike("no survivors", survivors, []),
    ...unlike("outcome", completed.outcome, outcome.kind),
    ...unlike("cause", completed.cause, outcome.kind === "stopped" ? outcome.cause : null),
    ...unlike("exit code", completed.exit_code, exit?.kind === "exited" ? exit.exitCode : null),
    ...unlike("signal", completed.signal, exit?.kind === "signaled" ? exit.signal : null),
    ...unlike("status", completed.status, isSuccess(completed) ? "completed" : "failed"),
    ...unlike("received", received(output), { bytes, lines, hashes: hashesOf(completed) }),
    ...unlike("gaps", output.gaps, { bytes: 0, lines: 0, count: 0 }),
    ...unlike("broken promises", output.faults, []),
    ...unlike("order", isInOrder(output.life), true).map(
      (text) => `${text}: ${output.life.join()}`,
    ),
    ...Object.entries(truth.ending).flatMap(([name, value]) =>
      unlike(name, Object.entries(completed).find(([key]) => key === name)?.[1], value),
    ),
    ...unlikeDigest("stdout", output, truth.stdout),
    ...unlikeDigest("stderr", output, truth.stderr),
    ...unlike("input", receipt.stdin_bytes, truth.stdinBytes ?? receipt.stdin_bytes),
  ]
  if (wrong.length > 0) throw new Error(`${id}: ${wrong.join("; ")}`)
}

export async function receiptOf(client: StreamClient, execution_id: string): Promise<Receipt> {
  const signed = await client.call("receipt", { execution_id })
  return Receipt.parse(JSON.parse(Buffer.from(signed.payload, "base64").toString()))
}

export function digestOf(text: string): Digest {
  const bytes = Buffer.from(text)
  return { bytes: bytes.length, hash: new Bun.CryptoHasher("sha256").update(bytes).digest("hex") }
}

/** The start is told first, a pause before its resume, and the end last, once. */
function isInOrder(life: readonly string[]): boolean {
  const words = life.map((name) => name.replace("process.", "")).join(" ")
  return /^(started )?(resumed )?(paused resumed )*(paused )?(canceled )?completed$/.test(words)
}

function isSuccess({ outcome, exit_code }: Pick<Ending, "outcome" | "exit_code">): boolean {
  return outcome === "exited" && exit_code === 0
}

function received(output: ReceivedOutput) {
  const { stdout, stderr } = output
  return {
    bytes: { stdout: stdout.bytes, stderr: stderr.bytes },
    lines: { stdout: stdout.lines, stderr: stderr.lines },
    hashes: { stdout: output.hash("stdout"), stderr: output.hash("stderr") },
  }
}

function hashesOf({ hashes }: Pick<ExecutionRecord, "hashes">) {
  return { stdout: hashes?.stdout, stderr: hashes?.stderr }
}

function unlikeDigest(
  stream: "stdout" | "stderr",
  output: ReceivedOutput,
  truth: Digest | undefined,
): string[] {
  if (truth === undefined) return []
  return unlike(stream, { bytes: output[stream].bytes, hash: output.hash(stream) }, truth)
}

function unlike(what: string, told: unknown, right: unknown): string[] {
  if (Bun.deepEquals(told, right)) return []
  return [`${what}: ${JSON.stringify(told)} instead of ${JSON.stringify(right)}`]
}
