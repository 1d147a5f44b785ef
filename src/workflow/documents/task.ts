import type { Digest } from "../../execution/trial/announcement.ts"
import type { WorkCheck } from "./front-matter.ts"

/** How a list marks what is done. */
export type BoxForm =
  | "brackets" // `- [x]`
  | "symbol" // ☐ ◔ ✅
  | "status" // `**Status**: …`
  | "none"

export type BoxMark = "open" | "under-way" | "done"

/** `start` and `end` are of what stands for the mark: `x`, `✅`, or the words of a status. */
export type Box = { form: BoxForm; mark: BoxMark; start: number; end: number; line: number }

export type TaskCheck = WorkCheck & { line: number }

/** `_Verified:_ …`: the line below a task that is ours. */
export type VerifiedLine = { start: number; end: number; line: number; text: string }

/** A person has accepted a task without a check, and says why. It never counts as verified. */
export type Acceptance = { by: string; why: string }

export type Task = {
  id: string
  title: string
  line: number
  parent: string | null // id of the task that it is nested in
  box: Box
  checks: TaskCheck[]
  verification: string | null // in prose: never executed
  claimed: boolean // ticked by hand, or so before it was adopted
  accepted: Acceptance | null // as its line says
  verified: VerifiedLine | null
  version: Digest // of its own text with its checks, without box and line of ours
  text: string // its own lines, as an agent is given them
  indent: string // of what stands below it
  insertAt: number // where its line of ours belongs
}
