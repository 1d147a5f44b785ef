import { isErrno } from "../../lib/errno.ts"
import { FromScreens } from "../../protocol/screens-ipc.ts"
import type { StartScreensProcess } from "../gateway/screen-ports.ts"
import { thisProgram } from "./own-program.ts"
import { residentBytes } from "./proc.ts"

/** Starts this program again as the process that keeps screens. */
export function spawnScreens(self: readonly string[], transcripts: string): StartScreensProcess {
  return (received) => {
    const child = Bun.spawn([...thisProgram(self), "__screens", transcripts], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
      serialization: "json",
      ipc: (message: unknown) => received(FromScreens.parse(message)),
    })
    return {
      send(message) {
        try {
          child.send(message)
        } catch (error) {
          // It has exited, and we have not been notified yet: there is nobody to tell.
          if (!isErrno(error, "ERR_IPC_CHANNEL_CLOSED")) throw error
        }
      },
      kill: () => child.kill("SIGKILL"),
      residentBytes: () => residentBytes(child.pid),
      exited: child.exited.then(() => undefined),
    }
  }
}
