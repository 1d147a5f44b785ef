import type { ExecutionView } from "../../../../src/protocol/execution-view.ts"

const possibleEnds: Readonly<Record<string, readonly string[]>> = {
  run: ["exited 0"],
  cancel: ["exited 0", "stopped client"],
  abandon: ["exited 0", "stopped disconnected"],
  spoil: ["exited 0", "failed-to-start"],
}

/** Those of a storm's executions that ended in a way in which they cannot have. */
export function unexpectedEnds(executions: readonly ExecutionView[]): string[] {
  return executions.flatMap(({ execution_id, ending, labels, survivors }) => {
    const deed = labels["deed"] ?? "nothing"
    const end = endOf(ending)
    const isPossible = possibleEnds[deed]?.includes(end) === true && survivors.length === 0
    return isPossible ? [] : [`${execution_id}: ${deed} and ${end}`]
  })
}

function endOf(ending: ExecutionView["ending"]): string {
  if (ending === null) return "not ended"
  const { outcome, exit_code, cause } = ending
  if (outcome === "exited") return `${outcome} ${exit_code}`
  return cause === null ? outcome : `${outcome} ${cause}`
}
