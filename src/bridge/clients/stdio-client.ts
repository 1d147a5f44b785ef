import { aborted, delay } from "../../lib/delay.ts"
import type { Log } from "../../lib/log.ts"
import { type Line, Lines } from "../messages/lines.ts"
import { onOneLine, readMessages } from "../messages/message.ts"
import { type BridgeTarget, noResumeState, type OpenTarget, type TargetLimits } from "../ports.ts"
import { problem, problemAnswer, unreadableAnswer } from "../problem.ts"

export type StdioClientSettings = {
  input: AsyncIterable<Uint8Array>
  /** Called one at a time; rejects when the client has stopped reading. */
  write: (text: string) => Promise<void>
  openTarget: OpenTarget
  limits: TargetLimits
  /** For answers under way when the input ends. */
  graceMs: number
  /** Ends everything, now. */
  signal: AbortSignal
  log: Log
}

/** Serves the client at standard input and output, until its input ends. */
export async function serveStdioClient(settings: StdioClientSettings): Promise<void> {
  const { input, write, limits, graceMs, signal, log } = settings
  const leaving = new AbortController()
  const over = AbortSignal.any([signal, leaving.signal])
  let written: Promise<void> = Promise.resolve()
  const deliver = (text: string) => {
    if (over.aborted) return written
    written = write(`${onOneLine(text)}\n`).catch((error: unknown) => {
      log.debug({ err: error }, "client stopped reading")
      leaving.abort()
    })
    return written
  }
  const target = settings.openTarget(({ text }) => deliver(text), noResumeState)
  const take = async (line: Line) => {
    if (line.kind === "too-long") {
      const why = `A message of more than ${limits.messageBytes} bytes was dropped.`
      return deliver(problemAnswer(null, problem("TOO_LARGE", why)).text)
    }
    for (const read of readMessages(line.text)) {
      if (read.ok) await target.send(read.value)
      else await deliver(unreadableAnswer(read.failure).text)
    }
  }
  try {
    const reading = readLines(input, new Lines(limits.messageBytes), take)
    await Promise.race([reading, aborted(over)])
    await sent(target, over)
    // An answer that has come may not be written yet.
    const answered = target.requests.settled().then(() => written)
    await Promise.race([answered, delay(graceMs, over)])
  } finally {
    await target.close("ended")
  }
}

const sendingMs = 20_000
const pollMs = 20

/** Starting a service for the first request takes a while, which the grace time does not cover. */
async function sent(target: BridgeTarget, over: AbortSignal): Promise<void> {
  const deadlineMs = performance.now() + sendingMs
  while (target.isWaiting && !over.aborted && performance.now() < deadlineMs) {
    await delay(pollMs, over)
  }
}

async function readLines(
  input: AsyncIterable<Uint8Array>,
  lines: Lines,
  take: (line: Line) => Promise<void>,
): Promise<void> {
  for await (const chunk of input) for (const line of lines.take(chunk)) await take(line)
  const rest = lines.rest()
  if (rest !== null) await take(rest)
}
