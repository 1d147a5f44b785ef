/** What a program asks its terminal with: a terminal that is shown one types an answer. */
const queries: readonly RegExp[] = [
  /^\[[>=]?[\d;]*c$/, // device attributes
  /^\[\??[\d;]*n$/, // device status, the cursor's place
  /^\[\??[\d;]*\$p$/, // whether a mode is set
  /^\[>[\d;]*q$/, // name and version
  /^\[[\d;]*x$/, // terminal parameters
  /^\[(?:1[1345689]|2[01])(?:;\d*)*t$/, // the window, its size, its titles
  /^\[\?u$/, // kitty: the keyboard
  /^\[\?[\d;]*S$/, // graphics
  /^\[\?[\d;]*m$/, // how keys are encoded
  /^\[[\d;]*(?:\$[uw]|&u|\*y|#[R|]|"v|'\|)$/, // tables, checksums, colours, the locator
  /^Z$/, // the old form of device attributes
  /^\](?:[45]|1\d|21|22|50|52|60|61|66)(?:;.*)?[;=]\?(?:$|;)/s, // colours, clipboard, font
  /^\]1337;(?:ReportCellSize|ReportVariable|RequestAttributes|Capabilities)/i,
  /^\]99;[^;]*p=\?/,
  /^P(?:\$q|\+[qQ])/, // settings, capabilities
  /^_G(?:[^;]*,)?a=q/, // whether there are pictures
]

const introducers: ReadonlyMap<number, string> = new Map([
  [0x90, "P"],
  [0x9a, "Z"],
  [0x9b, "["],
  [0x9d, "]"],
  [0x9f, "_"],
])

/** Only these can end a query, or stand behind what introduces one. */
const mostLookedAt = 256

/** Whether an escape sequence, whole, asks the terminal something. */
export function isQuery(bytes: Uint8Array, from: number, to: number): boolean {
  const text = bodyOf(bytes, from, Math.min(to, from + mostLookedAt))
  return queries.some((query) => query.test(text))
}

/** What follows ESC, without the end of a string. */
function bodyOf(bytes: Uint8Array, from: number, to: number): string {
  const begin = from + (bytes[from] === 0x1b ? 1 : 2)
  const written = Buffer.from(bytes.buffer, bytes.byteOffset + begin, Math.max(0, to - begin))
  const text = written.toString("latin1")
  const introducer = bytes[from] === 0x1b ? "" : (introducers.get(bytes[from + 1] ?? 0) ?? "")
  // oxlint-disable-next-line no-control-regex
  return introducer + text.replace(/(?:\x07|\x1b\\|\xc2\x9c)$/, "")
}
