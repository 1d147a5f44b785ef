import { existsSync } from "node:fs"
import { join } from "node:path"
import { RawSession } from "./raw-session.ts"

/** Ends all that is live in the service of a state directory, if there is one. */
export async function cancelAll({ stateDir }: { stateDir: string }): Promise<void> {
  const socket = join(stateDir, "gateway.sock")
  if (!existsSync(socket)) return
  using session = await RawSession.open(`ws+unix://${socket}:/ws/mcp`)
  const { executions } = await session.call("list", { limit: 1000 })
  const live = executions.filter(({ state }) => state !== "ended")
  // One may end by itself meanwhile: that is answered with an error, and as good.
  const cancel = ({ execution_id }: { execution_id: string }) =>
    session.response(session.request("control", { type: "CANCEL", execution_id }))
  await Promise.all(live.map(cancel))
}
