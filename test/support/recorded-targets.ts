import type { Message } from "../../src/bridge/messages/message.ts"
import { readMessages } from "../../src/bridge/messages/message.ts"
import type { OpenTarget } from "../../src/bridge/ports.ts"

type RecordedTarget = {
  sent: Message[]
  isClosed: boolean
  /** Sends a message to the client, as the server would. */
  say(message: object): Promise<void>
}

/** Targets of a bridge that write down what they are sent, and say what a test tells them to. */
export function recordedTargets(): { opened: RecordedTarget[]; open: OpenTarget } {
  const opened: RecordedTarget[] = []
  const open: OpenTarget = (deliver, resumeState) => {
    const recorded: RecordedTarget = {
      sent: [],
      isClosed: false,
      async say(message) {
        const text = JSON.stringify({ jsonrpc: "2.0", ...message })
        for (const read of readMessages(text)) if (read.ok) await deliver(read.value)
      },
    }
    opened.push(recorded)
    return {
      requests: { size: 0, settled: () => Promise.resolve() },
      isWaiting: false,
      resumeState,
      async send(message) {
        recorded.sent.push(message)
      },
      async close() {
        recorded.isClosed = true
      },
    }
  }
  return { opened, open }
}
