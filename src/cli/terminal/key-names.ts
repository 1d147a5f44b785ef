import { UsageFailure } from "../failure.ts"

/** What keys send that have a name; of a terminal without any of its modes set. */
const named: Readonly<Record<string, string>> = {
  enter: "\r",
  return: "\r",
  tab: "\t",
  escape: "\x1b",
  esc: "\x1b",
  space: " ",
  backspace: "\x7f",
  up: "\x1b[A",
  down: "\x1b[B",
  right: "\x1b[C",
  left: "\x1b[D",
  home: "\x1b[H",
  end: "\x1b[F",
  insert: "\x1b[2~",
  delete: "\x1b[3~",
  pageup: "\x1b[5~",
  pagedown: "\x1b[6~",
  f1: "\x1bOP",
  f2: "\x1bOQ",
  f3: "\x1bOR",
  f4: "\x1bOS",
  f5: "\x1b[15~",
  f6: "\x1b[17~",
  f7: "\x1b[18~",
  f8: "\x1b[19~",
  f9: "\x1b[20~",
  f10: "\x1b[21~",
  f11: "\x1b[23~",
  f12: "\x1b[24~",
  "shift-tab": "\x1b[Z",
}

const keyNames = Object.keys(named)

/** What else they send to a program that has set the mode of application cursor keys. */
const cursorKeys: ReadonlySet<string> = new Set(["up", "down", "right", "left", "home", "end"])

export type KeyMode = "normal" | "application"

/** Whether the program's terminal decides what a key sends. */
export function dependsOnMode(name: string): boolean {
  return cursorKeys.has(name.toLowerCase())
}

/** The bytes of `Enter`, `Ctrl-C`, `Alt-b`, `Up` or any one character. */
export function keyBytes(name: string, mode: KeyMode = "normal"): string {
  const bytes = bytesOf(name)
  if (bytes !== null && mode === "application" && dependsOnMode(name)) {
    return bytes.replace("[", "O")
  }
  if (bytes !== null) return bytes
  throw new UsageFailure(
    `Unknown key: ${name}. Use one character, Ctrl-X, Alt-X, or one of ${keyNames.join(", ")}.`,
  )
}

function bytesOf(name: string): string | null {
  if (/^.$/su.test(name)) return name
  const known = named[name.toLowerCase()]
  if (known !== undefined) return known
  const [, modifier = "", key = ""] = /^(ctrl|alt)-(.+)$/i.exec(name) ?? []
  if (modifier.toLowerCase() === "alt") {
    const plain = bytesOf(key)
    return plain === null ? null : `\x1b${plain}`
  }
  return modifier === "" ? null : controlBytes(key)
}

/** Ctrl leaves of a character its last five bits; of letters, and of the few beside them. */
function controlBytes(key: string): string | null {
  if (key.toLowerCase() === "space") return "\0"
  if (key === "?") return "\x7f"
  const isControllable = /^[a-z@[\\\]^_]$/i.test(key)
  return isControllable ? String.fromCharCode(key.toUpperCase().charCodeAt(0) & 0x1f) : null
}
