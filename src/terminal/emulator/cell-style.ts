import type { XtermStyle } from "./xterm-core.ts"

/** How a cell looks, in the numbers that the emulator keeps. */
export type CellStyle = { fg: number; bg: number; ext: number; link: number }

export const plainStyle: CellStyle = { fg: 0, bg: 0, ext: 0, link: 0 }

// Flags that @xterm/headless keeps beside the colours.
const inverse = 0x0400_0000
const bold = 0x0800_0000
const underline = 0x1000_0000
const blink = 0x2000_0000
const invisible = 0x4000_0000
const strikethrough = 0x8000_0000
const italic = 0x0400_0000
const dim = 0x0800_0000
const hasExtended = 0x1000_0000
const isProtected = 0x2000_0000
const overline = 0x4000_0000

const singleUnderline = 1 << 26

const colorMask = 0x03ff_ffff
const modeMask = 0x0300_0000
const palette16 = 0x0100_0000
const palette256 = 0x0200_0000
const rgb = 0x0300_0000

export function styleOf({ fg, bg, extended }: XtermStyle): CellStyle {
  const isExtended = (bg & hasExtended) !== 0
  // A screen filled by DECALN has none, whatever its cells say.
  const ext = isExtended ? (extended?._ext ?? 0) : 0
  const link = isExtended ? (extended?._urlId ?? 0) : 0
  return { fg: tidied(fg), bg: tidied(bg & ~hasExtended), ext: ext & 0x1fff_ffff, link }
}

/** What the next character is written in. */
export function penStyle(pen: XtermStyle): CellStyle {
  return {
    ...styleOf(pen),
    ext: (pen.extended?._ext ?? 0) & 0x1fff_ffff,
    link: pen.extended?._urlId ?? 0,
  }
}

/** The same without what does not show. */
export function shownStyle(cell: XtermStyle): CellStyle {
  const style = styleOf(cell)
  if ((style.fg & underline) === 0) return { ...style, ext: 0 }
  return style.ext >>> 26 === 0 ? { ...style, ext: style.ext | singleUnderline } : style
}

/** What shows of a cell without a character. */
export function blankStyle({ fg, bg, ext, link }: CellStyle): CellStyle {
  const flags = fg & (inverse | underline | strikethrough)
  const shown = flags === 0 ? 0 : flags | (fg & colorMask)
  return { fg: shown >>> 0, bg: bg & (colorMask | overline), ext, link }
}

/** Without what a colour of more bits has left behind. */
function tidied(value: number): number {
  const mode = value & modeMask
  const bits = mode === rgb ? 0x00ff_ffff : mode === 0 ? 0 : 0xff
  return (value & (~colorMask | modeMask | bits)) >>> 0
}

export function isSameStyle(one: CellStyle, other: CellStyle): boolean {
  return (
    one.fg === other.fg && one.bg === other.bg && one.ext === other.ext && one.link === other.link
  )
}

/** Whether erasing with its background leaves an empty cell of this style. */
export function isErasable(blank: CellStyle): boolean {
  return blank.fg === 0 && (blank.bg & overline) === 0 && blank.ext === 0 && blank.link === 0
}

export function hasBackground({ bg }: CellStyle): boolean {
  return (bg & colorMask) !== 0
}

/** Sets everything but the hyperlink, whatever was set before. */
export function styleSequence({ fg, bg, ext }: CellStyle): string {
  const parameters = ["0"]
  if (fg & bold) parameters.push("1")
  if (bg & dim) parameters.push("2")
  if (bg & italic) parameters.push("3")
  if (fg & underline) parameters.push(underlineParameter(ext))
  if (fg & blink) parameters.push("5")
  if (fg & inverse) parameters.push("7")
  if (fg & invisible) parameters.push("8")
  if (fg & strikethrough) parameters.push("9")
  if (bg & overline) parameters.push("53")
  parameters.push(...color(fg, 30, 90, "38"), ...color(bg, 40, 100, "48"))
  parameters.push(...underlineColor(ext))
  // What only a selective erase leaves alone: the emulator takes that for a style, too.
  return `\x1b[${parameters.join(";")}m${bg & isProtected ? '\x1b[1"q' : ""}`
}

function underlineParameter(ext: number): string {
  const style = (ext >>> 26) & 7
  return style > 1 ? `4:${style}` : "4"
}

function underlineColor(ext: number): string[] {
  const value = ext & colorMask
  if (value === 0 || value === colorMask) return []
  const mode = value & modeMask
  if (mode === rgb) return [`58:2::${channels(value).join(":")}`]
  return mode === 0 ? [] : [`58:5:${value & 0xff}`]
}

function color(value: number, base: number, bright: number, extended: string): string[] {
  const index = value & 0xff
  switch (value & modeMask) {
    case palette16:
      return [String(index < 8 ? base + index : bright + index - 8)]
    case palette256:
      return [extended, "5", String(index)]
    case rgb:
      return [extended, "2", ...channels(value).map(String)]
    default:
      return []
  }
}

function channels(value: number): number[] {
  return [(value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff]
}
