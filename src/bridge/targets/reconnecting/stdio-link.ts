import { delay } from "../../../lib/delay.ts"
import { errnoOf, isErrno } from "../../../lib/errno.ts"
import type { Log } from "../../../lib/log.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { Lines } from "../../messages/lines.ts"
import { onOneLine } from "../../messages/message.ts"
import type { Link, LinkEnd, LinkFailure, Received } from "./link.ts"

export type CommandSettings = {
  command: readonly string[]
  env: Readonly<Record<string, string | undefined>>
  messageBytes: number
  log: Log
}

/** Between closing its input and SIGTERM: most servers end when their input does. */
const politeMs = 500
const graceMs = 3_000
/** How long output is still read after the server has exited. */
const lastWordsMs = 500

/** Pipes to a server that was started for this one client, and ends with it. */
export async function openCommandLink(
  { command, env, messageBytes, log }: CommandSettings,
  received: Received,
): Promise<Result<Link, LinkFailure>> {
  const spawned = spawn(command, env)
  if (!spawned.ok) return spawned
  const child = spawned.value
  log.debug({ pid: child.pid }, "server was started")
  const ended = Promise.withResolvers<LinkEnd>()
  let isOpen = true
  let ending: Promise<void> | null = null
  const reader = child.stdout.getReader()

  async function read(): Promise<string | null> {
    const lines = new Lines(messageBytes)
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return null
      for (const line of lines.take(value)) {
        if (line.kind === "too-long") return `it sent a message of more than ${messageBytes} bytes`
        await received(line.text)
      }
    }
  }
  async function run(): Promise<void> {
    const output = read()
    // A descendant may hold the pipe open after the server has exited.
    const cut = await Promise.race([output, child.exited.then(() => afterExit(output))])
    isOpen = false
    const why = cut ?? howItEnded(child, await Promise.race([child.exited, delay(lastWordsMs)]))
    ended.resolve({ why, isTransient: cut === null })
  }
  async function afterExit(output: Promise<string | null>): Promise<string | null> {
    const cut = await Promise.race([output, delay(lastWordsMs).then(() => null)])
    await reader.cancel()
    return cut
  }
  const running = run()

  return ok({
    get isOpen() {
      return isOpen
    },
    async send(text) {
      if (!isOpen) return
      try {
        await child.stdin.write(`${onOneLine(text)}\n`)
        await child.stdin.flush()
      } catch (error) {
        // It closed its input, or exited: then its output ends too, and `run` reports that.
        if (!isErrno(error, "EPIPE", "ERR_INVALID_STATE", "ECONNRESET")) throw error
      }
    },
    ended: ended.promise,
    async close() {
      isOpen = false
      ending ??= endTree(child)
      await ending
      await running
    },
  })
}

type Child = Bun.Subprocess<"pipe", "pipe", "inherit">

function spawn(
  command: readonly string[],
  env: CommandSettings["env"],
): Result<Child, LinkFailure> {
  try {
    const child = Bun.spawn([...command], {
      detached: true, // it leads a process group, so its descendants can be signalled too
      env,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
      lazy: true, // its output is read only when asked for, so a slow client slows it down
    })
    return ok(child)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    const why = `${command[0]} cannot be started (${errno})`
    const isTransient = ["EAGAIN", "EMFILE", "ENFILE", "ENOMEM", "ETXTBSY"].includes(errno)
    return fail({ why, isTransient, hasAnswered: false })
  }
}

function howItEnded(child: Child, exitCode: number | void): string {
  if (exitCode === undefined) return "it closed its output"
  const { signalCode } = child
  return signalCode === null
    ? `the server ended with exit code ${exitCode}`
    : `the server was ended by ${signalCode}`
}

/** The server and all its descendants that did not leave its group. */
async function endTree(child: Child): Promise<void> {
  void endInput(child) // not awaited: a server that reads nothing would keep us waiting
  await Promise.race([child.exited, delay(politeMs)])
  if (!signalGroup(child.pid, "SIGTERM")) return
  const deadlineMs = performance.now() + graceMs
  while (performance.now() < deadlineMs) {
    if (!signalGroup(child.pid, 0)) return
    await Bun.sleep(20)
  }
  signalGroup(child.pid, "SIGKILL")
  await Promise.race([child.exited, delay(graceMs)])
}

async function endInput(child: Child): Promise<void> {
  try {
    await child.stdin.end()
  } catch (error) {
    if (errnoOf(error) === null) throw error // it was closed already
  }
}

/** Whether there was anybody to signal. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch (error) {
    if (isErrno(error, "ESRCH")) return false
    if (isErrno(error, "EPERM")) return true // it runs as another user now, and stays
    throw error
  }
}
