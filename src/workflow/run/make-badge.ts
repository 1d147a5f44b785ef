import { mkdirSync } from "node:fs"
import { dirname } from "node:path"
import { errnoOf } from "../../lib/errno.ts"
import { damageText } from "../ledger/damage.ts"
import { badge } from "../render/badge.ts"
import { lockWork } from "./files/work-lock.ts"
import { lookAt } from "./files/work-state.ts"
import { writeText } from "./files/write-text.ts"
import { WorkFailure } from "./work-failure.ts"
import type { World } from "./world.ts"

export type MadeBadge = {
  svg: string
  /** What is wrong with the ledger, in words: then no counts are shown. */
  damages: readonly string[]
}

/** Looks at the ledger and the journal; nothing is written. */
export async function makeBadge(world: World, path: string): Promise<MadeBadge> {
  const { name, work, summary, verified } = await lookAt(world, path)
  const svg = badge({ name, work, summary, head: verified.head })
  return { svg, damages: verified.damages.map(damageText) }
}

export async function writeBadge(path: string, svg: string): Promise<void> {
  try {
    mkdirSync(dirname(path), { recursive: true })
    await lockWork(path, async () => writeText(path, Buffer.from(svg)))
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    throw new WorkFailure(`${path} cannot be written (${errno}).`)
  }
}
