import type { GatewayMessage } from "../../../protocol/ipc.ts"
import type { Channel } from "../operations/keeper-link.ts"

/** What the keeper and this process say to each other, by the channel that came with it. */
export function keeperChannel(): Channel {
  return {
    send(message: GatewayMessage) {
      process.send?.(message)
    },
    onMessage(received) {
      process.on("message", received)
    },
  }
}

/** To be called first: nobody says it twice, and a gateway without a keeper would spin for ever. */
export function untilToldToEnd(): Promise<"keeper gone" | "signal"> {
  return new Promise((resolve) => {
    if (!process.connected) resolve("keeper gone")
    process.on("disconnect", () => resolve("keeper gone"))
    process.on("SIGTERM", () => resolve("signal"))
  })
}
