import type { Client } from "../../client/connect.ts"
import type { RemoteExecution } from "../../client/remote-execution.ts"

const scrollback = 1000

/** What the terminal of an execution shows, with what is above it, then everything as it comes. */
export function openScreen(client: Client, id: string): Promise<RemoteExecution> {
  return client.attach(id, { screen: { scrollback, size: () => null }, encoding: "base64" })
}
