import type { GapNotice } from "./methods.ts"

/** Which output somebody wants to read at once, in one piece after another. */
export type OutputRequest = {
  executionId: string
  from: string
  form: "text" | "bytes"
  limitBytes: number
}

/** What was there when it was read, up to a limit, cut after a line where there is one. */
export type OutputPage<Kept> = {
  pieces: Kept[]
  next: string
  /** Output bytes of both streams before `next`. */
  sequence: number
  /** More is there already. */
  more: boolean
  /** Nothing will ever follow `next`. */
  ended: boolean
  /** What stood before the first piece and is forgotten. */
  gap: GapNotice | null
}
