/** What the files of one round are called: `{SEQ}_{COMPONENT}_{KIND}.{md,json}`. */

export type ReviewFileKind = "review_request" | "review_feedback" | "fixes"

/** `017` and `websocket`; a number may be longer, or have a letter behind it. */
export type ReviewName = { seq: string; component: string }

const nameForm = /^(\d{3,6}[a-z]?)_(.+)_(?:(review_request|review_feedback)\.md|(fixes)\.json)$/

export function readReviewName(fileName: string): (ReviewName & { kind: ReviewFileKind }) | null {
  const [, seq = "", component = "", document, fixes] = nameForm.exec(fileName) ?? []
  if (document === "review_request" || document === "review_feedback") {
    return { seq, component, kind: document }
  }
  return fixes === undefined ? null : { seq, component, kind: "fixes" }
}

/** Without its ending, this is also the `review_id`. */
export function reviewId({ seq, component }: ReviewName): string {
  return `${seq}_${component}`
}

export function reviewFileName(name: ReviewName, kind: ReviewFileKind): string {
  return `${reviewId(name)}_${kind}.${kind === "fixes" ? "json" : "md"}`
}

/** Rounds are numbered in one row, whatever their components; `014b` counts as 14. */
export function numberOf({ seq }: Pick<ReviewName, "seq">): number {
  return Number.parseInt(seq, 10)
}

export function nextSeq(there: readonly ReviewName[]): string {
  const last = Math.max(0, ...there.map(numberOf))
  return `${last + 1}`.padStart(3, "0")
}

/** As it can stand in the name of a file, and be found again in it; null where it cannot. */
export function componentName(given: string): string | null {
  return /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,99}$/u.test(given) ? given : null
}
