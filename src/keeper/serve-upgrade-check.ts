import { journalVersion } from "../journal/migrations.ts"
import { handoverFormat, type UpgradeCheck } from "../protocol/handover.ts"
import { stateSchema } from "./state-schema.ts"

/** Says what this program could take over, to a service that asks before it changes to it. */
export function answerUpgradeCheck(version: string): number {
  const answer: UpgradeCheck = {
    version,
    handover: handoverFormat,
    state: stateSchema,
    journal: journalVersion,
  }
  console.log(JSON.stringify(answer))
  return 0
}
