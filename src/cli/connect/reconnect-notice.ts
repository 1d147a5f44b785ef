import type { ConnectionState } from "../../client/connection/connection.ts"
import type { Context } from "../context.ts"
import { isLively } from "../terminal/colours.ts"
import { rawLineEnd } from "../terminal/terminal-text.ts"

const patienceMs = 1_000

/** Tells on a terminal that the connection is gone, once that lasts. */
export function reconnectNotice(context: Context): (state: ConnectionState) => void {
  let timer: Timer | null = null
  let wasConnected = false
  let wasTold = false
  const say = (text: string) => {
    const line = [`cc-executor: ${text}`, rawLineEnd]
    context.stderr.write(line).catch(() => undefined) // the terminal is gone
  }
  return (state) => {
    if (!isLively(context.stderr, context.env)) return
    switch (state.kind) {
      case "connecting":
        return
      case "waiting":
        if (!wasConnected || timer !== null) return
        timer = setTimeout(() => {
          wasTold = true
          say("connection lost, reconnecting…")
        }, patienceMs)
        return
      case "connected":
      case "closed":
        if (timer !== null) clearTimeout(timer)
        timer = null
        if (wasTold && state.kind === "connected") say("reconnected")
        wasTold = false
        wasConnected = state.kind === "connected"
    }
  }
}
