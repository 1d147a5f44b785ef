/** A key that has a name here, or the character that it types. */
export type Key = NamedKey | { typed: string }
type NamedKey =
  | "up"
  | "down"
  | "page-up"
  | "page-down"
  | "home"
  | "end"
  | "enter"
  | "backspace"
  | "escape"
  | "ctrl-c"

const named: ReadonlyMap<string, NamedKey> = new Map([
  ["\x1b[A", "up"],
  ["\x1bOA", "up"],
  ["\x1b[B", "down"],
  ["\x1bOB", "down"],
  ["\x1b[5~", "page-up"],
  ["\x1b[6~", "page-down"],
  ["\x1b[H", "home"],
  ["\x1bOH", "home"],
  ["\x1b[F", "end"],
  ["\x1bOF", "end"],
  ["\r", "enter"],
  ["\n", "enter"],
  ["\x7f", "backspace"],
  ["\b", "backspace"],
  ["\x1b", "escape"],
  ["\x03", "ctrl-c"],
])

// A sequence that a key sends, as a whole: those that are not known mean nothing.
const piece = new RegExp(String.raw`\x1b\[[0-?]*[ -/]*[@-~]|\x1bO[ -~]|[\s\S]`, "gu")

/** What was pressed, from bytes of a terminal in raw mode: it sends those of a key at once. */
export function pressedKeys(bytes: Uint8Array): Key[] {
  const text = new TextDecoder().decode(bytes)
  return [...text.matchAll(piece)].flatMap(([match]): Key[] => {
    const name = named.get(match)
    if (name !== undefined) return [name]
    return match >= " " ? [{ typed: match }] : []
  })
}
