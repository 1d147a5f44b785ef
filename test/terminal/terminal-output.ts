import fc from "fast-check"
import type { TerminalSize } from "../../src/execution/spec.ts"
import { blankStyle, plainStyle, shownStyle } from "../../src/terminal/emulator/cell-style.ts"
import { Emulator } from "../../src/terminal/emulator/emulator.ts"
import { newCell } from "../../src/terminal/emulator/xterm-core.ts"

export const size: TerminalSize = { cols: 12, rows: 6 }

const small = fc.integer({ min: 0, max: 14 })
const word = fc.constantFrom(
  ..."a,bcd,0123456789ABCDEF,日本,e\u0301,👩,é, ,    ,\t,\b,\r,\n,\r\n,x日,q~`".split(","),
)
const csi = (parameters: fc.Arbitrary<string>, finals: string) =>
  fc
    .tuple(parameters, fc.constantFrom(...finals.split("")))
    .map(([given, final]) => `\x1b[${given}${final}`)
const one = small.map(String)
const two = fc.tuple(small, small).map((pair) => pair.join(";"))
const style = fc.constantFrom(
  ..."0,1,2,3,4,4:3,5,7,8,9,21,24,31,39,42,49,53,92,105,38;5;200,48;5;17,38;2;1;2;3".split(","),
  "58:2::1:2:3",
  "1;4;7;31;48;5;3",
)
const mode = fc.constantFrom(
  ..."1,6,9,25,45,47,66,1000,1002,1003,1004,1006,1016,1047,1048,1049,2004".split(","),
)

/** What programs write to terminals, and a few things that none would. */
export const terminalOutput: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: word },
      { weight: 4, arbitrary: csi(one, "@ABCDEFGHIJKLMPSTXZ`adefghlrsu") },
      { weight: 3, arbitrary: csi(two, "Hfr") },
      { weight: 4, arbitrary: style.map((given) => `\x1b[${given}m`) },
      {
        weight: 3,
        arbitrary: csi(
          mode.map((given) => `?${given}`),
          "hl",
        ),
      },
      { weight: 1, arbitrary: csi(fc.constantFrom("4", "20"), "hl") },
      {
        weight: 1,
        arbitrary: fc.constantFrom("\x1b[3 q", "\x1b[5 q", '\x1b[1"q', '\x1b[0"q', "\x1b[!p"),
      },
      {
        weight: 3,
        arbitrary: fc
          .constantFrom(..."7,8,D,E,M,H,=,>,c,#8,(0,(B,)0,*A,n,o".split(","))
          .map((e) => `\x1b${e}`),
      },
      { weight: 1, arbitrary: fc.constantFrom("\x0e", "\x0f", "\x1b[?J", "\x1b[?1K", "\x1b[3g") },
      { weight: 1, arbitrary: fc.constantFrom("\x1b]0;title\x07", "\x1b]2;other\x1b\\") },
    ),
    { minLength: 1, maxLength: 60 },
  )
  .map((parts) => parts.join(""))

/** Everything that a person sees of a terminal, and what changes what comes next. */
export function picture(emulator: Emulator) {
  const { xterm, modes, title } = emulator
  const { buffers, buffer, coreService } = xterm.core
  const cell = newCell(xterm)
  const linesOf = ({ lines, ybase }: typeof buffer, from: number) =>
    Array.from({ length: lines.length - from }, (_, at) => {
      const line = lines.get(from + at)
      if (line === undefined || from + at < ybase - 1000) return null
      return Array.from({ length: emulator.size.cols }, (_empty, x) => {
        line.loadCell(x, cell)
        const width = cell.getWidth()
        const widthAt = (place: number) => (place < 0 ? 0 : line.loadCell(place, cell).getWidth())
        // Of a wide character, where the other half is gone: that shows nothing.
        const isHalf =
          (width === 2 && widthAt(x + 1) !== 0) || (width === 0 && widthAt(x - 1) !== 2)
        line.loadCell(x, cell)
        const chars = isHalf ? " " : cell.getChars()
        const isBlank = chars === "" && width !== 0
        const { link, ...look } =
          isBlank || chars === " " ? blankStyle(shownStyle(cell)) : shownStyle(cell)
        const uri = link === 0 ? "" : (xterm.core._oscLinkService.getLinkData(link)?.uri ?? "")
        const text = isBlank ? " " : chars
        return isSame({ ...look, link: uri === "" ? 0 : 1 }, plainStyle)
          ? text
          : { text, look, uri }
      })
    })
  const { decPrivateModes } = coreService
  return {
    normal: buffer === buffers.normal ? linesOf(buffers.normal, 0) : null,
    normalBehind: buffer === buffers.alt ? linesOf(buffers.normal, 0) : null,
    alternate: buffer === buffers.alt ? linesOf(buffers.alt, 0) : null,
    cursor: [buffer.x, buffer.y],
    margins: [buffer.scrollTop, buffer.scrollBottom],
    title,
    modes,
    more: [decPrivateModes.origin, decPrivateModes.wraparound, coreService.modes.insertMode],
    shape: [coreService.isCursorHidden, decPrivateModes.cursorStyle],
  }
}

function isSame(a: object, b: object): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
