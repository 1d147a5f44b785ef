import { basename } from "node:path"
import { faultText } from "../documents/fault.ts"
import { readReviewName, reviewId } from "../documents/review/review-name.ts"
import { type Adoption, adopt } from "../render/adopt.ts"
import { readWorkFile } from "./files/read-work.ts"
import { lockWork } from "./files/work-lock.ts"
import { bringUpToDate } from "./files/work-state.ts"
import { replaceText } from "./files/write-text.ts"
import { WorkFailure } from "./work-failure.ts"
import type { World } from "./world.ts"

/** A request of the first generation has nothing but its name that says what it is. */
function boundRequest(path: string, text: string): string {
  const name = readReviewName(basename(path))
  if (name?.kind !== "review_request" || /^\uFEFF?---/.test(text)) return text
  return `---\nreview: ${JSON.stringify(reviewId(name))}\n---\n\n${text.replace(/^\uFEFF/, "")}`
}

/** Binds a file of somebody else's; nothing in it is run. */
export async function adoptWork(world: World, given: string): Promise<Adoption> {
  const { path } = readWorkFile(given)
  const adoption = await lockWork(path, async () => {
    for (;;) {
      const { text, bytes, work } = readWorkFile(path)
      const adopted = adopt(work.kind === "prompt" ? boundRequest(path, text) : text)
      if (!adopted.ok) throw new WorkFailure(`${path}, ${faultText(adopted.failure)}.`)
      const after = Buffer.from(adopted.value.text)
      if (after.equals(bytes) || replaceText(path, bytes, after)) return adopted.value
    }
  })
  await bringUpToDate(world, path)
  return adoption
}
