import { handoverFormat, type UpgradeCheck } from "../../../protocol/handover.ts"
import { journalVersion } from "../../storage/journal/migrations.ts"
import { stateSchema } from "../../storage/state-schema.ts"

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
