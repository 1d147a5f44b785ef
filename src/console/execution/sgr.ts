/** How a piece of text looks. A number is a colour of the palette, a text is `#rrggbb`. */
export type Style = {
  readonly foreground: number | string | null
  readonly background: number | string | null
  readonly marks: ReadonlySet<Mark>
}

export type Mark = "bold" | "dim" | "italic" | "underline" | "strike" | "inverse" | "hidden"

export type Run = { text: string; style: Style }

export const plain: Style = { foreground: null, background: null, marks: new Set() }

/**
 * What a program means that writes to a terminal, also where there is none: a sequence, a control
 * character, or a character that turns the direction of the text around it.
 */
const special = new RegExp(
  [
    String.raw`(?:\x1b\[|\x9b)(?<parameters>[0-?]*)[ -/]*(?<final>[@-~])`,
    // Titles, links, and whatever else is for the terminal and not for the screen.
    String.raw`(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)`,
    String.raw`\x1b[ -/]*[0-~]?`,
    String.raw`[\x00-\x08\x0a-\x1f\x7f-\x9f]`,
    String.raw`[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]`,
  ].join("|"),
  "g",
)

const anySpecial = new RegExp(special.source)

type Cell = { character: string; style: Style }

/** One line as a terminal would leave it; the style that it ends with is that of the next one. */
export function readLine(text: string, before: Style): { runs: Run[]; after: Style } {
  if (!anySpecial.test(text))
    return { runs: text === "" ? [] : [{ text, style: before }], after: before }
  const line = new Line(before)
  let at = 0
  for (const match of text.matchAll(special)) {
    line.write(text.slice(at, match.index))
    at = match.index + match[0].length
    const { parameters, final } = match.groups ?? {}
    if (final !== undefined) line.control(final, parameters ?? "")
    else line.character(match[0])
  }
  line.write(text.slice(at))
  return { runs: line.runs(), after: line.style }
}

/** Cells are written over: a progress bar that returns to the beginning is shown once. */
class Line {
  style: Style
  readonly #cells: Cell[] = []
  #at = 0

  constructor(style: Style) {
    this.style = style
  }

  write(text: string): void {
    for (const character of text) {
      while (this.#cells.length < this.#at) this.#cells.push({ character: " ", style: plain })
      this.#cells[this.#at] = { character, style: this.style }
      this.#at += 1
    }
  }

  control(final: string, parameters: string): void {
    const count = Number(/^\d{1,4}/.exec(parameters)?.[0] ?? 1)
    if (final === "m") this.style = styled(this.style, parameters)
    else if (final === "C") this.#at = Math.min(this.#at + count, mostColumns)
    else if (final === "D") this.#at = Math.max(0, this.#at - count)
    else if (final === "G") this.#at = Math.min(Math.max(0, count - 1), mostColumns)
    else if (final === "K") this.#erase(parameters)
    // All other movements lead to other lines, and what was written there stays.
  }

  character(text: string): void {
    if (text === "\r") this.#at = 0
    else if (text === "\b") this.#at = Math.max(0, this.#at - 1)
    else if (text.startsWith("\x1b") || text === "\x07") return
    else if (text.length === 1) this.#shown(text)
  }

  runs(): Run[] {
    const runs: Run[] = []
    for (const { character, style } of this.#cells) {
      const last = runs.at(-1)
      if (last !== undefined && last.style === style) last.text += character
      else runs.push({ text: character, style })
    }
    return runs
  }

  /** What cannot be seen stands as something that can. */
  #shown(character: string): void {
    const code = character.charCodeAt(0)
    if (code < 0x20) this.write(String.fromCharCode(0x2400 + code))
    else if (code === 0x7f) this.write("\u2421")
    else if (code > 0x9f) this.write(String.raw`\u${code.toString(16).padStart(4, "0")}`)
  }

  #erase(parameters: string): void {
    if (parameters === "" || parameters === "0")
      this.#cells.length = Math.min(this.#cells.length, this.#at)
    else if (parameters === "2") this.#cells.length = 0
  }
}

const mostColumns = 4096

const marksByCode: ReadonlyMap<number, Mark> = new Map([
  [1, "bold"],
  [2, "dim"],
  [3, "italic"],
  [4, "underline"],
  [7, "inverse"],
  [8, "hidden"],
  [9, "strike"],
])

const endsByCode: ReadonlyMap<number, readonly Mark[]> = new Map([
  [22, ["bold", "dim"]],
  [23, ["italic"]],
  [24, ["underline"]],
  [27, ["inverse"]],
  [28, ["hidden"]],
  [29, ["strike"]],
])

function styled(before: Style, parameters: string): Style {
  const codes = parameters.split(/[;:]/).map(Number)
  let style = before
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0
    if (code === 38 || code === 48) {
      const { colour, used } = wideColour(codes.slice(at + 1))
      at += used
      const isText = code === 38
      if (colour !== null) {
        style = isText ? { ...style, foreground: colour } : { ...style, background: colour }
      }
    } else {
      style = afterCode(style, code)
    }
  }
  return style
}

function afterCode(style: Style, code: number): Style {
  if (code === 0) return plain
  const mark = marksByCode.get(code)
  if (mark !== undefined) return { ...style, marks: new Set([...style.marks, mark]) }
  const ended = endsByCode.get(code)
  if (ended !== undefined) {
    return { ...style, marks: new Set([...style.marks].filter((one) => !ended.includes(one))) }
  }
  if (code >= 30 && code <= 37) return { ...style, foreground: code - 30 }
  if (code >= 90 && code <= 97) return { ...style, foreground: code - 90 + 8 }
  if (code === 39) return { ...style, foreground: null }
  if (code >= 40 && code <= 47) return { ...style, background: code - 40 }
  if (code >= 100 && code <= 107) return { ...style, background: code - 100 + 8 }
  return code === 49 ? { ...style, background: null } : style
}

/** `5;N` of the palette, `2;R;G;B` of all colours. */
function wideColour(codes: readonly number[]): { colour: number | string | null; used: number } {
  const [kind, ...values] = codes
  if (kind === 5) return { colour: paletteColour(values[0] ?? 0), used: 2 }
  if (kind !== 2) return { colour: null, used: 0 }
  const [red = 0, green = 0, blue = 0] = values
  return { colour: hexColour(red, green, blue), used: 4 }
}

/** The first sixteen are the reader's own; the others are the same everywhere. */
function paletteColour(index: number): number | string | null {
  if (!Number.isInteger(index) || index < 0 || index > 255) return null
  if (index < 16) return index
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10
    return hexColour(grey, grey, grey)
  }
  const cube = index - 16
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40)
  return hexColour(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6))
}

function hexColour(...parts: number[]): string {
  const texts = parts.map((part) =>
    Math.min(255, Math.max(0, Math.trunc(part) || 0))
      .toString(16)
      .padStart(2, "0"),
  )
  return `#${texts.join("")}`
}
