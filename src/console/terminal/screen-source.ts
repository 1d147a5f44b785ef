import type { Client } from "../../client/connect.ts"
import type { RemoteExecution } from "../../client/remote-execution.ts"

/** As much of the past as draws a screen, in most cases: programs draw themselves anew. */
const pastBytes = 262_144

/**
 * What a terminal is to show of an execution: what it wrote last, then everything as it comes. The
 * one place that knows where a screen comes from.
 */
export async function openScreen(client: Client, id: string): Promise<RemoteExecution> {
  return client.attach(id, { from: `tail-bytes:${pastBytes}`, encoding: "base64" })
}
