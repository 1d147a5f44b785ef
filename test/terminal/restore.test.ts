import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { Emulator } from "../../src/terminal/emulator/emulator.ts"
import { picture, size, terminalOutput } from "./terminal-output.ts"

describe("a screen that was brought back", () => {
  test("shows what the first one shows", () => {
    fc.assert(
      fc.property(terminalOutput, (output) => {
        using first = new Emulator(size)
        first.write(Buffer.from(output))

        using second = restored(first)

        expect(picture(second)).toEqual(picture(first))
      }),
      { numRuns: 1500 },
    )
  })

  test("goes on as the first one does", () => {
    fc.assert(
      fc.property(terminalOutput, terminalOutput, (before, after) => {
        using first = new Emulator(size)
        first.write(Buffer.from(before))
        using second = restored(first)

        first.write(Buffer.from(after))
        second.write(Buffer.from(after))

        expect(picture(second)).toEqual(picture(first))
      }),
      { numRuns: 1500 },
    )
  })
})

function restored(first: Emulator): Emulator {
  const second = new Emulator(first.size)
  second.restore(first.restoreText(1000), first.title)
  return second
}
