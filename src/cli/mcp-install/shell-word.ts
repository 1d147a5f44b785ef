/** A word that a POSIX shell takes as it is. */
export function shellWord(text: string): string {
  if (/^[\w./:@%+=-]+$/.test(text)) return text
  return `'${text.replaceAll("'", `'\\''`)}'`
}
