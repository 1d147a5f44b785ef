/** Ends a command on a work: `message` says what happened, to what, why, and what to do now. */
export class WorkFailure extends Error {
  override readonly name: string = "WorkFailure"
}
