import { RawSession } from "../../../support/raw-session.ts"
import type { Capacity } from "./capacity-storm.ts"

const forever = { argv: ["sleep", "1000"] }

/**
 * Takes every place there is, all at once, and one more; then gives them all back at once. Answers
 * how it went, which is how it should only if no place was lost before.
 */
export async function fillTheHouse(
  url: string,
  { maxExecutions, maxQueue }: Capacity,
): Promise<{ started: number; queued: number; refused: string[] }> {
  using session = await RawSession.open(url)
  const asked = Array.from({ length: maxExecutions + maxQueue + 1 }, () =>
    session.request("execute", forever),
  )
  const answers = await Promise.all(asked.map((id) => session.response(id)))
  const refused = answers.flatMap((one) => ("error" in one ? [one.error.data.reason] : []))
  const { executions: queued } = await session.call("list", { state: "queued" })
  const { executions: running } = await session.call("list", { state: "running" })

  const cancels = [...queued, ...running].map(({ execution_id }) =>
    session.call("control", { type: "CANCEL", execution_id }),
  )
  await Promise.all(cancels)
  return { started: running.length, queued: queued.length, refused }
}
