import { ok, type Result } from "../../lib/result.ts"
import type { DocumentFault } from "../documents/fault.ts"
import type { WorkCheck } from "../documents/front-matter.ts"
import { readWork } from "../documents/work-kind.ts"

/** A check that somebody may want to bind: it stands in the file, but nobody has said so. */
export type ProposedCheck = { item: string | null; line: number; run: WorkCheck["run"] }

export type Adoption = {
  text: string // with our regions, the old counts in them as claimed and unattested
  claimed: { item: string | null; line: number; words: string }[]
  proposed: ProposedCheck[] // never bound by adopting
}

export function adopt(text: string): Result<Adoption, DocumentFault> {
  const work = readWork(text)
  return work.ok ? ok({ text, claimed: [], proposed: [] }) : work
}
