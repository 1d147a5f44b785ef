import type { Xterm } from "./xterm-core.ts"

/** Of the terminal that executions run on, as xterm has them by default. */
const foreground = "rgb:ffff/ffff/ffff"
const background = "rgb:0000/0000/0000"
const ansiColors = [
  ["2e", "34", "36"],
  ["cc", "00", "00"],
  ["4e", "9a", "06"],
  ["c4", "a0", "00"],
  ["34", "65", "a4"],
  ["75", "50", "7b"],
  ["06", "98", "9a"],
  ["d3", "d7", "cf"],
  ["55", "57", "53"],
  ["ef", "29", "29"],
  ["8a", "e2", "34"],
  ["fc", "e9", "4f"],
  ["72", "9f", "cf"],
  ["ad", "7f", "a8"],
  ["34", "e2", "e2"],
  ["ee", "ee", "ec"],
]

/** Answers what @xterm/headless leaves to a terminal with a window; the rest it answers itself. */
export function answerMore({ terminal, core }: Xterm): void {
  const { parser } = terminal
  const answer = (text: string) => core.coreService.triggerDataEvent(text)
  parser.registerCsiHandler({ prefix: ">", final: "q" }, ([first]) => {
    if (first === 0) answer("\x1bP>|cc-executor\x1b\\")
    return true
  })
  parser.registerCsiHandler({ prefix: "=", final: "c" }, ([first]) => {
    if (first === 0) answer("\x1bP!|00000000\x1b\\")
    return true
  })
  // No capability is told by its name in terminfo.
  parser.registerDcsHandler({ intermediates: "+", final: "q" }, () => {
    answer("\x1bP0+r\x1b\\")
    return true
  })
  const fixed = [foreground, background, foreground]
  for (const [index, color] of fixed.entries()) {
    const number = 10 + index
    parser.registerOscHandler(number, (data) => {
      for (const [at, asked] of data.split(";").entries()) {
        const next = fixed[index + at] ?? color
        if (asked === "?" && number + at <= 12) answer(`\x1b]${number + at};${next}\x1b\\`)
      }
      return true
    })
  }
  parser.registerOscHandler(4, (data) => {
    const fields = data.split(";").slice(0, 2 * 256)
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const index = Number(fields[at])
      const isAsked = fields[at + 1] === "?" && Number.isInteger(index)
      if (isAsked && index >= 0 && index < 256)
        answer(`\x1b]4;${index};${indexedColor(index)}\x1b\\`)
    }
    return true
  })
}

function indexedColor(index: number): string {
  const parts = ansiColors[index] ?? (index < 232 ? cubeColor(index - 16) : grey(index - 232))
  return `rgb:${parts.map((part) => part + part).join("/")}`
}

function cubeColor(index: number): string[] {
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40)
  return [Math.floor(index / 36), Math.floor(index / 6) % 6, index % 6].map((step) =>
    hexadecimal(level(step)),
  )
}

function grey(index: number): string[] {
  return Array.from({ length: 3 }, () => hexadecimal(8 + index * 10))
}

function hexadecimal(value: number): string {
  return value.toString(16).padStart(2, "0")
}
