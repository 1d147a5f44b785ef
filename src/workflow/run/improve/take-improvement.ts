import type { AttestedTrial } from "../../../execution/trial/attestation.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { type Prompt, readPrompt } from "../../documents/prompt.ts"
import { addRecovery } from "../../improve/add-recovery.ts"
import { recoveryOf } from "../../improve/recovery-of-failure.ts"
import { replaceBody } from "../../improve/replace-body.ts"
import { readWorkFile } from "../files/read-work.ts"
import { lockWork } from "../files/work-lock.ts"
import { bringUpToDate, type WorkState } from "../files/work-state.ts"
import { replaceText } from "../files/write-text.ts"
import type { World } from "../world.ts"

type Taken = { version: string; recovery: string | null }

/** Writes the new text, and the failure as a recovery test, at once; or neither. */
export async function takeImprovement(
  world: World,
  state: WorkState,
  improved: Prompt,
  trial: AttestedTrial,
): Promise<Result<Taken, string>> {
  const taken = await lockWork(state.path, async (): Promise<Result<Taken, string>> => {
    for (;;) {
      const { path, bytes, work } = readWorkFile(state.path)
      if (work.kind !== "prompt" || work.version !== trial.announcement.version) {
        return fail("the prompt was edited meanwhile")
      }
      const recovery = recoveryOf(trial, work.settings)
      const body = replaceBody(work, improved)
      if (!body.ok) return body
      const text = recovery === null ? body : addRecovery(body.value, recovery)
      if (!text.ok) return text
      const read = readPrompt(text.value)
      if (!read.ok) return fail(read.failure.reason)
      if (!replaceText(path, bytes, Buffer.from(text.value))) continue
      return ok({ version: read.value.version, recovery: recovery?.run ?? null })
    }
  })
  await bringUpToDate(world, state.path, state)
  return taken
}
