import type { Client } from "../../client/connect.ts"

/** A service that keeps screens answers queries; to an older one, the terminal here has to. */
export async function whoAnswers(client: Pick<Client, "connected">): Promise<"kept" | "removed"> {
  const { capabilities } = await client.connected
  return capabilities.includes("screen") ? "removed" : "kept"
}
