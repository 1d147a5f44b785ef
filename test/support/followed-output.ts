import { type Client, connect } from "../../src/client/connect.ts"
import type { RemoteExecution } from "../../src/client/remote-execution.ts"
import type { Completed } from "../../src/protocol/notifications.ts"

/** What a user of the client library has of an execution in the end: all that it promises. */
export type FollowedOutput = {
  bytes: { stdout: number; stderr: number }
  hashes: { stdout: string; stderr: string }
  kinds: string[] // of events other than output, in their order
  completed: Completed
}

/** A client that comes back as any user's would, with the library's own delays. */
export function libraryClient(url: string): Client {
  return connect({ url })
}

/** Takes everything; `taken` hears of the bytes so far. */
export async function followToEnd(
  execution: Pick<RemoteExecution, "output" | "ended">,
  taken: (bytes: number) => void = () => undefined,
): Promise<FollowedOutput> {
  const bytes = { stdout: 0, stderr: 0 }
  const hashers = {
    stdout: new Bun.CryptoHasher("sha256"),
    stderr: new Bun.CryptoHasher("sha256"),
  }
  const kinds: string[] = []
  for await (const event of execution.output()) {
    if (event.kind === "output") {
      const chunk = event.bytes
      hashers[event.stream].update(chunk)
      bytes[event.stream] += chunk.length
      taken(bytes.stdout + bytes.stderr)
    } else {
      kinds.push(event.kind)
    }
  }
  const hashes = { stdout: hashers.stdout.digest("hex"), stderr: hashers.stderr.digest("hex") }
  return { bytes, hashes, kinds, completed: await execution.ended }
}
