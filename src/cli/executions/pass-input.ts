import { CallError } from "../../client/client-error.ts"
import type { Client } from "../../client/connect.ts"
import { shortId } from "../../execution/id.ts"
import { delay, orAborted } from "../../lib/delay.ts"
import type { Context } from "../context.ts"
import { untilTold } from "../terminal/interrupts.ts"

/** How long an open pipe that nobody beside us writes to may be silent before it is left alone. */
const silenceMs = 1000
/** How long somebody waits for the prompt before wondering why it does not come. */
const wonderMs = 5000
/** How often to ask whether it has ended: to follow it would bring all of its output here. */
const askMs = 1000

/**
 * Passes this program's standard input on to an execution that is not followed, to its end; then
 * closes the execution's, unless it is to stay open for others. Answers the exit code.
 */
export async function passInput(
  context: Pick<Context, "stdin" | "stderr" | "signals">,
  client: Client,
  executionId: string,
  staysOpen: boolean,
): Promise<number> {
  const { stdin, stderr } = context
  const id = shortId(executionId)
  const say = (text: string) => stderr.write(`cc-executor: ${text}\n`)
  const input = client.input(executionId)
  const silent = new AbortController()
  using told = untilTold(context)
  using ended = untilEnded(client, executionId)
  using silence = timer(silenceMs, () => silent.abort())
  if (stdin.isFedBySibling()) silence[Symbol.dispose]()
  using _wonder = timer(wonderMs, () => {
    const stop = "Ctrl-C stops that and leaves it running."
    say(`still passing standard input on to ${id}. ${stop}`).catch(() => undefined) // nobody looks
  })
  const isOver = AbortSignal.any([told.signal, ended.signal])
  let unsureBytes = 0
  try {
    for await (const chunk of stdin.chunks(AbortSignal.any([isOver, silent.signal]))) {
      silence[Symbol.dispose]()
      unsureBytes = chunk.length
      // A command that reads nothing must not keep us from leaving it.
      await orAborted(input.write(chunk), isOver)
      if (!isOver.aborted) unsureBytes = 0
    }
    if (silent.signal.aborted) {
      const why = "nothing came from standard input, which is still open"
      await say(`${why}: ${id} runs without it.`)
    }
    if (!staysOpen && !isOver.aborted) await orAborted(input.end(), isOver)
  } catch (error) {
    // It has ended, or closed its input, as `head` does: nothing is wrong with that.
    if (!(error instanceof CallError && error.failure.reason === "WRONG_STATE")) throw error
    return 0
  }
  if (told.exitCode === null) return 0
  const unsure = unsureBytes > 0 ? `; it may not get the last ${unsureBytes} bytes` : ""
  const close = `\`cc-executor send --end ${id}\` closes it.`
  await say(`${id} continues, its input is still open${unsure}. ${close}`)
  return told.exitCode
}

function timer(delayMs: number, run: () => void): Disposable {
  const set = setTimeout(run, delayMs)
  return { [Symbol.dispose]: () => clearTimeout(set) }
}

/**
 * Aborted when it has ended: whoever feeds us may go on forever, and write nothing that would be
 * refused.
 */
function untilEnded(client: Client, executionId: string): Disposable & { signal: AbortSignal } {
  const ended = new AbortController()
  const over = new AbortController()
  const ask = async () => {
    for (;;) {
      await delay(askMs, over.signal)
      if (over.signal.aborted) return
      if (await hasEnded(client, executionId)) return ended.abort()
    }
  }
  // A connection that is lost for good is told of by the input, and who may not ask waits.
  ask().catch(() => undefined)
  return { signal: ended.signal, [Symbol.dispose]: () => over.abort() }
}

async function hasEnded(client: Client, executionId: string): Promise<boolean> {
  try {
    return (await client.call("status", { execution_id: executionId })).state === "ended"
  } catch (error) {
    // Only what has ended can be removed.
    if (error instanceof CallError && error.failure.reason === "PROCESS_NOT_FOUND") return true
    throw error
  }
}
