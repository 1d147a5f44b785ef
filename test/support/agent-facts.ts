import { readFileSync } from "node:fs"
import { CallError } from "../../src/client/client-error.ts"
import { executionMarker } from "../../src/execution/id.ts"
import { allPids, isAlive, readEnvironment, readStat } from "../../src/service/os/proc.ts"
import type { Conversation } from "./conversation.ts"

export const bash = (command: string) => ({
  use: "Bash",
  input: { command, description: "a command" },
})
export const wasCutOff = ({ uses }: Conversation) => /interrupted/.test(uses.at(-1)?.answer ?? "")

/** Everything that belongs to an execution, found by the marker in its environment. */
export function processesOf(id: string): number[] {
  const mark = `${executionMarker}=${id}`
  return allPids().filter(
    (pid) => isAlive(readStat(pid)) && readEnvironment(pid).split("\0").includes(mark),
  )
}

export async function refusalOf(call: Promise<unknown>): Promise<CallError> {
  const outcome = await call.then(
    () => null,
    (error: unknown) => error,
  )
  if (outcome instanceof CallError) return outcome
  throw new Error(`was not refused: ${String(outcome)}`)
}

export function toolResults(event: Record<string, unknown>): string[] {
  const text = JSON.stringify(event["message"])
  return [...text.matchAll(/"type":"tool_result","content":"([^"]*)"/g)].map(
    ([, said = ""]) => said,
  )
}

export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")
  } catch {
    return "" // gone meanwhile
  }
}

export function isClaude(pid: number): boolean {
  return /claude .*--input-format/.test(commandOf(pid))
}

export function limitHeaders(resetsAt: number): Record<string, string> {
  const reset = String(resetsAt)
  return {
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-reset": reset,
    "anthropic-ratelimit-unified-representative-claim": "five_hour",
    "anthropic-ratelimit-unified-5h-status": "rejected",
    "anthropic-ratelimit-unified-5h-reset": reset,
    "anthropic-ratelimit-unified-5h-utilization": "1.0",
  }
}
