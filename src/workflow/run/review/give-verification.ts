import { memberEdits } from "../../documents/review/member-edits.ts"
import { applyEdits } from "../../render/edit.ts"
import { readWorkFile } from "../files/read-work.ts"
import { lockWork } from "../files/work-lock.ts"
import { bringUpToDate, type WorkState } from "../files/work-state.ts"
import { replaceText } from "../files/write-text.ts"
import { refuseWithinTrial } from "../within-trial.ts"
import { WorkFailure } from "../work-failure.ts"
import type { World } from "../world.ts"
import { fixListOf } from "./run-fixes.ts"

export type GivenVerification = { fix: string; run: string; spoil: string | null; by: string }

/** Writes the command that a verification means, and who says so: trials announce both. */
export async function giveVerification(
  world: World,
  path: string,
  { fix: id, run, spoil, by }: GivenVerification,
): Promise<WorkState> {
  await refuseWithinTrial(world)
  const state = await bringUpToDate(world, path)
  await lockWork(state.path, async () => {
    for (;;) {
      const read = readWorkFile(state.path)
      const { fixes, text } = fixListOf(read)
      const fix = fixes.find((one) => one.id === id)
      if (fix === undefined) {
        const ids = fixes.map((one) => one.id).join(", ")
        throw new WorkFailure(`${state.path} has no fix ${id}: it has ${ids}.`)
      }
      const check = { run, ...(spoil === null ? {} : { spoil }), by }
      // A result of another check is rendered anew by whoever looks next.
      const after = applyEdits(text, memberEdits(text, fix.node, "check", check))
      if (replaceText(read.path, read.bytes, Buffer.from(after))) return
    }
  })
  return bringUpToDate(world, path)
}
