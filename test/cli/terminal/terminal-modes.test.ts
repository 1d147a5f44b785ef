import { describe, expect, test } from "bun:test"
import { TerminalModes } from "../../../src/cli/terminal/terminal-modes.ts"

function modesAfter(...pieces: string[]): TerminalModes {
  const modes = new TerminalModes()
  for (const piece of pieces) modes.see(Buffer.from(piece))
  return modes
}

describe("what a program did to the terminal", () => {
  test.each([
    ["focus events", "\x1b[?1004h", "\x1b[?1004l"],
    ["notices of the colour scheme", "\x1b[?2031h", "\x1b[?2031l"],
    ["several modes at once", "\x1b[?1000;1006h", "\x1b[?1000l\x1b[?1006l"],
    ["a hidden cursor", "\x1b[?25l", "\x1b[?25h"],
    ["no automatic wrap", "\x1b[?7l", "\x1b[?7h"],
    ["bracketed paste", "\x1b[?2004h", "\x1b[?2004l"],
    ["insert mode", "\x1b[4h", "\x1b[4l"],
    ["the keypad", "\x1b=", "\x1b>"],
    ["a cursor shape", "\x1b[5 q", "\x1b[0 q"],
    ["margins", "\x1b[2;20r", "\x1b7\x1b[r\x1b8"],
    ["line drawing", "\x1b(0", "\x1b(B"],
    ["other keys", "\x1b[>4;2m", "\x1b[>4m"],
    ["keyboard flags, pushed twice and popped once", "\x1b[>1u\x1b[>3u\x1b[<u", "\x1b[<1u"],
    ["colours", "\x1b[31m", "\x1b[0m"],
    ["the other screen", "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"],
  ])("is undone: %s", (_what, written, undone) => {
    expect(modesAfter(written).undo()).toBe(undone)
  })

  test.each([
    ["nothing at all", "plain text\n"],
    ["what it has undone itself", "\x1b[?1049h\x1b[?25l\x1b[?1004h\x1b[?1004l\x1b[?25h\x1b[?1049l"],
    ["a reset of everything", "\x1b[?1049h\x1b[?25l\x1b[>1u\x1bc"],
    ["a mode that terminals begin with differently", "\x1b[?1007h"],
  ])("is left alone: %s", (_what, written) => {
    expect(modesAfter(written).undo()).toBe("")
  })

  test("is found wherever its bytes were cut", () => {
    const written = "text\x1b[?1004htext\x1b(0text\x1b[?1049h"

    for (let at = 0; at <= written.length; at += 1) {
      const modes = modesAfter(written.slice(0, at), written.slice(at))
      expect(modes.undo()).toBe("\x1b[?1004l\x1b(B\x1b[?1049l")
    }
  })
})

describe("who leaves a program", () => {
  test("goes on below its last line, with nothing of it left there", () => {
    expect(modesAfter("a prompt> ").leave()).toBe("\r\n\x1b[J")
    expect(modesAfter("a line\n").leave()).toBe("\r\x1b[J")
  })

  test("goes on where it was before the program took the whole screen", () => {
    expect(modesAfter("\x1b[?1049hvim").leave()).toBe("\x1b[?1049l\r\x1b[J")
  })
})
