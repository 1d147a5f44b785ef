import { CallError } from "../../../client/client-error.ts"
import type { Client } from "../../../client/connect.ts"

/** The last lines that a step has written itself; nothing where they are no longer kept. */
export async function readTail(
  client: Client,
  execution_id: string,
  mostLines: number,
): Promise<string> {
  // Markers stand before and after what a check writes.
  const asked = { execution_id, from: `tail:${mostLines + 2}`, limit_bytes: 16 * 1024 }
  try {
    const { chunks } = await client.call("transcript.read", asked)
    const lines = chunks
      .map(({ data }) => data)
      .join("")
      .split("\n")
    const own = lines.filter(
      (line) => line !== "" && !/^MARKER_\S+ (?:begin|end exit \d+)$/.test(line),
    )
    return own.slice(-mostLines).join("\n")
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    return ""
  }
}
