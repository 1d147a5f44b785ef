/** A key that has a name here, or the character that it types. */
export type Key = NamedKey | { typed: string }
type NamedKey =
  | "up"
  | "down"
  | "left"
  | "right"
  | "page-up"
  | "page-down"
  | "home"
  | "end"
  | "enter"
  | "alt-enter"
  | "backspace"
  | "delete"
  | "escape"
  | "ctrl-a"
  | "ctrl-c"
  | "ctrl-d"
  | "ctrl-e"
  | "ctrl-k"
  | "ctrl-l"
  | "ctrl-u"
  | "ctrl-w"
  | "ctrl-z"

const named: ReadonlyMap<string, NamedKey> = new Map([
  ["\x1b[A", "up"],
  ["\x1bOA", "up"],
  ["\x1b[B", "down"],
  ["\x1bOB", "down"],
  ["\x1b[C", "right"],
  ["\x1bOC", "right"],
  ["\x1b[D", "left"],
  ["\x1bOD", "left"],
  ["\x1b[5~", "page-up"],
  ["\x1b[6~", "page-down"],
  ["\x1b[H", "home"],
  ["\x1b[1~", "home"], // tmux and the console of Linux
  ["\x1b[7~", "home"], // rxvt
  ["\x1bOH", "home"],
  ["\x1b[F", "end"],
  ["\x1b[4~", "end"],
  ["\x1b[8~", "end"],
  ["\x1bOF", "end"],
  ["\r", "enter"],
  ["\n", "enter"],
  ["\x7f", "backspace"],
  ["\b", "backspace"],
  ["\x1b\r", "alt-enter"],
  ["\x1b[3~", "delete"],
  ["\x1b", "escape"],
  ["\x01", "ctrl-a"],
  ["\x03", "ctrl-c"],
  ["\x04", "ctrl-d"],
  ["\x05", "ctrl-e"],
  ["\x0b", "ctrl-k"],
  ["\x0c", "ctrl-l"],
  ["\x15", "ctrl-u"],
  ["\x17", "ctrl-w"],
  ["\x1a", "ctrl-z"],
])

// A sequence that a key sends, as a whole: those that are not known mean nothing.
const piece = new RegExp(String.raw`\x1b\[[0-?]*[ -/]*[@-~]|\x1bO[ -~]|\x1b\r|[\s\S]`, "gu")

/** What was pressed, from bytes of a terminal in raw mode: it sends those of a key at once. */
export function pressedKeys(bytes: Uint8Array): Key[] {
  return keysIn(new TextDecoder().decode(bytes))
}

export function keysIn(text: string): Key[] {
  return [...text.matchAll(piece)].flatMap(([match]): Key[] => {
    const name = named.get(match)
    if (name !== undefined) return [name]
    return match >= " " ? [{ typed: match }] : []
  })
}
