import { describe, expect, test } from "bun:test"
import { DetachKeys, detachSequence } from "../../../src/cli/terminal/detach-keys.ts"

const p = "\x10"
const q = "\x11"

function feed(sequence: string, ...typed: string[]): { forwarded: string; isDetach: boolean } {
  const keys = new DetachKeys(detachSequence(sequence) ?? new Uint8Array())
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
    expect(feed("ctrl-p,ctrl-q", ...typed)).toEqual({ forwarded, isDetach: true })
  })

  test.each([
    ["Ctrl-Q alone", [q], q],
    ["Ctrl-P and another key", [p, "x"], `${p}x`],
    ["Ctrl-P, another key, Ctrl-Q", [p, "x", q], `${p}x${q}`],
    ["Ctrl-P twice and another key", [`${p}${p}x`], `${p}${p}x`],
    ["Ctrl-C", ["\x03"], "\x03"],
  ])("are not %s, which goes to the command", (_, typed, forwarded) => {
    expect(feed("ctrl-p,ctrl-q", ...typed)).toEqual({ forwarded, isDetach: false })
  })

  test("may begin like themselves", () => {
    expect(feed("a,a,b", "aaab")).toEqual({ forwarded: "a", isDetach: true })
    expect(feed("a,b,a,c", "ababac")).toEqual({ forwarded: "ab", isDetach: true })
  })

  test("hold their beginning back until it is known whose it is", () => {
    const keys = new DetachKeys(Buffer.from("\x1d\x1d"))

    expect(keys.feed(Buffer.from("\x1d"))).toMatchObject({ forward: new Uint8Array() })
    expect(keys.isPending).toBe(true)
    expect(Buffer.from(keys.release()).toString()).toBe("\x1d")
    expect(keys.isPending).toBe(false)
  })

  test("are Ctrl-] twice if nothing else is asked for, and may be none", () => {
    expect(detachSequence()).toEqual(Buffer.from("\x1d\x1d"))
    expect(detachSequence("none")).toBeNull()
    expect(detachSequence("ctrl-a,d")).toEqual(Buffer.from("\x01d"))
    expect(() => detachSequence("ctrl-ä")).toThrow("Unknown key: ctrl-ä.")
    expect(() => detachSequence("")).toThrow("Unknown key")
  })
})
