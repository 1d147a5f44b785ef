/** Another text in the place of what stands between two offsets. */
export type Edit = { start: number; end: number; text: string }

/** All that is not named by an edit stays as it is. Edits do not overlap. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let result = ""
  let at = 0
  for (const edit of inOrder(edits)) {
    result += text.slice(at, edit.start) + edit.text
    at = edit.end
  }
  return result + text.slice(at)
}

export function inOrder(edits: readonly Edit[]): Edit[] {
  return edits.toSorted((one, other) => one.start - other.start || one.end - other.end)
}
