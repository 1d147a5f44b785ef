/** What would become of a piece of text: its lines, each behind ` `, `-` or `+`. */
export function changedLines(before: string, after: string): string[] {
  const old = withoutLastEnd(before)
  const next = withoutLastEnd(after)
  let same = 0
  while (same < Math.min(old.length, next.length) && old[same] === next[same]) same += 1
  let sameAtEnd = 0
  const most = Math.min(old.length, next.length) - same
  while (sameAtEnd < most && old.at(-1 - sameAtEnd) === next.at(-1 - sameAtEnd)) sameAtEnd += 1
  return [
    ...old.slice(0, same).map((text) => ` ${text}`),
    ...old.slice(same, old.length - sameAtEnd).map((text) => `-${text}`),
    ...next.slice(same, next.length - sameAtEnd).map((text) => `+${text}`),
    ...old.slice(old.length - sameAtEnd).map((text) => ` ${text}`),
  ]
}

function withoutLastEnd(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n")
}
