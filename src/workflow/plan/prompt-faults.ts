import type { Prompt } from "../documents/prompt.ts"
import { neededRecoveryTests } from "../ledger/graduation.ts"
import { whyWeak } from "./weak-check.ts"

/** What a prompt lacks to be tried and to graduate, in words. */
export function promptFaults(prompt: Prompt): string[] {
  const { settings, regions, claimed, isBound, recoveryTests, body } = prompt
  const { checks, recovery } = settings
  const faults: string[] = []
  if (!isBound) faults.push("it has no front matter, where its checks would stand")
  if (checks.length === 0) faults.push("it has no `checks:`, so nothing can show that it works")
  if (regions.length === 0 && claimed === null) {
    faults.push("it has no metrics and no history: `cc-executor adopt` writes them")
  }
  if (recovery.length < neededRecoveryTests) {
    const inProse =
      recoveryTests.length === 0
        ? ""
        : `; ${recoveryTests.length} are described in its text, but only \`recovery:\` is run`
    faults.push(
      `it has ${recovery.length} of at least ${neededRecoveryTests} recovery tests${inProse}`,
    )
  }
  if (body.trim() === "") faults.push("it has no text for an agent")
  for (const { run } of [...checks, ...recovery]) {
    const why = whyWeak(run)
    if (why !== null) faults.push(`the check \`${run}\` shows nothing: ${why}`)
  }
  const seen = new Set(checks.map(({ run }) => run))
  for (const { run } of recovery) {
    if (seen.has(run)) faults.push(`the recovery test \`${run}\` is there already`)
    seen.add(run)
  }
  return faults
}
