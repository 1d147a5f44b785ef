import { shortId } from "../../execution/id.ts"
import type { ResultOf } from "../../protocol/methods.ts"
import { eachExecutionCommand } from "../executions/each-execution.ts"
import { survivorsNotice } from "../executions/execution-text.ts"
import { durationText } from "../time.ts"

export const cancelCommand = eachExecutionCommand({
  usage: ["cancel [OPTIONS] ID…"],
  about: `\
Sends SIGTERM to every process of the execution, and SIGKILL to those that do not end in time.
Returns when none is left, and says how they ended.`,
  examples: {
    "stop an execution": "cc-executor cancel 7kq2mfa4",
    "stop everything that is running": "cc-executor ps -q | xargs cc-executor cancel",
  },
  spinner: "canceling…",
  work: async (client, id) =>
    canceledText(await client.call("control", { type: "CANCEL", execution_id: id })),
})

function canceledText(result: ResultOf<"control">): string {
  const id = shortId(result.execution_id)
  if (result.status !== "canceled") return `${id} ${result.status}`
  const { processes, survivors } = result
  const survived = survivorsNotice({ survivors })
  const tail = survived === null ? "" : `; ${survived}`
  if (processes.length === 0) return `${id} canceled${tail}`
  const signals = [...new Set(processes.map(({ signal }) => signal))].join(", ")
  const longest = durationText(Math.max(...processes.map(({ ms }) => ms)))
  const count = processes.length === 1 ? "1 process" : `${processes.length} processes`
  return `${id} canceled: ${count} ended by ${signals} within ${longest}${tail}`
}
