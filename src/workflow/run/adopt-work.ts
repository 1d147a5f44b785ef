import { faultText } from "../documents/fault.ts"
import { type Adoption, adopt } from "../render/adopt.ts"
import { readWorkFile } from "./files/read-work.ts"
import { lockWork } from "./files/work-lock.ts"
import { bringUpToDate } from "./files/work-state.ts"
import { replaceText } from "./files/write-text.ts"
import { WorkFailure } from "./work-failure.ts"
import type { World } from "./world.ts"

/** Binds a file of somebody else's; nothing in it is run. */
export async function adoptWork(world: World, given: string): Promise<Adoption> {
  const { path } = readWorkFile(given)
  const adoption = await lockWork(path, async () => {
    for (;;) {
      const { text, bytes } = readWorkFile(path)
      const adopted = adopt(text)
      if (!adopted.ok) throw new WorkFailure(`${path}, ${faultText(adopted.failure)}.`)
      const after = Buffer.from(adopted.value.text)
      if (after.equals(bytes) || replaceText(path, bytes, after)) return adopted.value
    }
  })
  await bringUpToDate(world, path)
  return adoption
}
