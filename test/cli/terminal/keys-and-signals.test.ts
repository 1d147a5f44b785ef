import { describe, expect, test } from "bun:test"
import { DetachKeys, Interrupts } from "../../../src/cli/terminal/interrupts.ts"
import { TerminalModes } from "../../../src/cli/terminal/show-output.ts"

const p = "\x10"
const q = "\x11"

function feed(...typed: string[]): { forwarded: string; isDetach: boolean } {
  const keys = new DetachKeys()
  let forwarded = ""
  for (const piece of typed) {
    const { forward, isDetach } = keys.feed(Buffer.from(piece))
    forwarded += Buffer.from(forward).toString()
    if (isDetach) return { forwarded, isDetach }
  }
  return { forwarded, isDetach: false }
}

describe("the keys to detach", () => {
  test.each([
    ["in one piece", [`ab${p}${q}`], "ab"],
    ["in two", ["ab", p, q], "ab"],
    ["after another Ctrl-P", [p, `${p}${q}`], p],
    ["with more typed after them", [`${p}${q}rm -rf`], ""],
  ])("are found %s", (_, typed, forwarded) => {
    expect(feed(...typed)).toEqual({ forwarded, isDetach: true })
  })

  test.each([
    ["Ctrl-Q alone", [q], q],
    ["Ctrl-P and another key", [p, "x"], `${p}x`],
    ["Ctrl-P, another key, Ctrl-Q", [p, "x", q], `${p}x${q}`],
    ["Ctrl-P twice and another key", [`${p}${p}x`], `${p}${p}x`],
    ["Ctrl-C", ["\x03"], "\x03"],
  ])("are not %s, which goes to the command", (_, typed, forwarded) => {
    expect(feed(...typed)).toEqual({ forwarded, isDetach: false })
  })

  test("hold a Ctrl-P back until the next key", () => {
    expect(feed(p)).toEqual({ forwarded: "", isDetach: false })
  })
})

describe("signals to who drives an execution", () => {
  test("Ctrl-C cancels, and again detaches", () => {
    const interrupts = new Interrupts(true)

    expect(interrupts.answer("SIGINT")).toEqual({ kind: "cancel" })
    expect(interrupts.answer("SIGINT")).toEqual({ kind: "detach", exitCode: 130 })
    expect(interrupts.hasCanceled).toBe(true)
  })

  test("the end of this program or its terminal is not that of the execution", () => {
    expect(new Interrupts(true).answer("SIGTERM")).toEqual({ kind: "detach", exitCode: 143 })
    expect(new Interrupts(true).answer("SIGHUP")).toEqual({ kind: "detach", exitCode: 129 })
  })

  test("who only observes cancels nothing", () => {
    expect(new Interrupts(false).answer("SIGINT")).toEqual({ kind: "detach", exitCode: 130 })
  })
})

describe("the modes a program has set on the terminal", () => {
  test("are undone, the alternate screen only if it is on", () => {
    const [inside, outside] = [new TerminalModes(), new TerminalModes()]
    inside.see(Buffer.from("\x1b[?1049l\x1b[?1049hvim"))
    outside.see(Buffer.from("\x1b[?1049h"))
    outside.see(Buffer.from("bye\x1b[?1049l"))

    expect(inside.undo()).toContain("\x1b[?1049l")
    expect(outside.undo()).not.toContain("\x1b[?1049l")
    expect(outside.undo()).toContain("\x1b[?25h")
  })
})
