import { isErrno } from "../../../lib/errno.ts"
import type { GatewaySettings } from "../../../protocol/gateway-settings.ts"
import { FromScreens } from "../../../protocol/screens-ipc.ts"
import { thisProgram } from "../../os/own-program.ts"
import { residentBytes } from "../../os/proc.ts"
import type { StartScreensProcess } from "../screen-ports.ts"

/** Starts this program again as the process that keeps screens. */
export function spawnScreens(
  settings: Pick<GatewaySettings, "self" | "transcriptsPath">,
): StartScreensProcess {
  const { self, transcriptsPath } = settings
  return (received) => {
    const child = Bun.spawn([...thisProgram(self), "__screens", transcriptsPath], {
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
