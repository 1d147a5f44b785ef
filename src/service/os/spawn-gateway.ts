import { isErrno } from "../../lib/errno.ts"
import type { StartGateway } from "../keeper/ports.ts"
import { thisProgram } from "./own-program.ts"
import type { Reaper } from "./reaper.ts"

type LineSink = { write(piece: Uint8Array): void; end(): void }

/** Starts this program again as the gateway, in its own session, with its log led into ours. */
export function spawnGateway(
  options: { self: readonly string[]; env: Record<string, string | undefined> },
  reaper: Reaper,
  openSink: () => LineSink,
): StartGateway {
  return (received) => {
    const child = Bun.spawn([...thisProgram(options.self), "__gateway"], {
      detached: true, // a terminal's Ctrl-C is for the keeper alone
      env: gatewayEnvironment(options.env),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      serialization: "json",
      ipc: (message: unknown) => received(message),
    })
    reaper.isMine(child.pid, child.exited)
    const relayed = [relay(child.stdout, openSink()), relay(child.stderr, openSink())]
    return {
      pid: child.pid,
      send(message) {
        try {
          child.send(message)
        } catch (error) {
          // It has exited, and we have not been notified yet: there is nobody to tell.
          if (!isErrno(error, "ERR_IPC_CHANNEL_CLOSED")) throw error
        }
      },
      kill: (signal) => child.kill(signal),
      exited: child.exited.then(async (code) => {
        await Promise.all(relayed)
        return child.signalCode === null ? `exit code ${code}` : String(child.signalCode)
      }),
    }
  }
}

async function relay(output: ReadableStream<Uint8Array>, lines: LineSink): Promise<void> {
  for await (const piece of output) lines.write(piece)
  lines.end()
}

/** Without what changes the runtime; and a service manager is for the keeper to tell. */
function gatewayEnvironment(env: Record<string, string | undefined>) {
  const notIts = /^(?:BUN_|NOTIFY_SOCKET$)/
  return Object.fromEntries(Object.entries(env).filter(([name]) => !notIts.test(name)))
}
