import type { Digest } from "../../execution/trial/announcement.ts"
import type { WorkCheck } from "./front-matter.ts"

export type BoxMark = "open" | "under-way" | "done"

/** How a list marks what is done: `- [x]`, one of ☐ ◔ ✅, or the words after `**Status**:`. */
export type Box = {
  form: "brackets" | "symbol" | "status"
  mark: BoxMark
  start: number // offsets of what stands for the mark: `x`, `✅`, or the words
  end: number
  line: number
}

export type TaskCheck = WorkCheck & { line: number }

/** `_Verified:_ …`: the line below a task that is ours. */
export type VerifiedLine = {
  start: number // offsets of the whole line with its end
  end: number
  line: number
  says: string // what stands after `_Verified:_`
}

/** A person has accepted a task without a check, and says why. It never counts as verified. */
export type Acceptance = { by: string; why: string }

export type Task = {
  id: string
  title: string
  line: number
  parent: string | null // id of the task that it is nested in
  box: Box | null
  checks: TaskCheck[]
  unclear: TaskNote[] // what looks like a check, and is not executed
  verification: TaskNote | null // in prose: never executed
  isClaimed: boolean // ticked by hand, as far as the file tells
  accepted: Acceptance | null // as its line says
  verified: VerifiedLine[] // ours is the last: a file may hold more
  version: Digest // of its own text with its checks, without box and line of ours
  text: string // its own lines, as an agent is given them
  indent: string // of what stands below it
  insertAt: number // where its line of ours belongs
}

export type TaskNote = { line: number; text: string }
