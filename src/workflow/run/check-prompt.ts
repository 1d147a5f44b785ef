import { promptFaults } from "../plan/prompt-faults.ts"
import { readWorkFile } from "./files/read-work.ts"
import { notAPrompt } from "./run-prompt.ts"

/** What a prompt lacks, in words; nothing is run. */
export function checkPrompt(path: string): string[] {
  const { work } = readWorkFile(path)
  if (work.kind !== "prompt") throw notAPrompt(path)
  return promptFaults(work)
}
