import { describe, expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { closedVariables, closeSwitches } from "../../../scripts/build/close-switches.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"

describe("the names of variables in a program", () => {
  test("lose their first letter, and nothing else is changed", () => {
    using program = programWith(closedVariables)
    const before = readFileSync(program.path)

    closeSwitches(program.path)

    const after = readFileSync(program.path)
    const changed = [...after.keys()].filter((index) => after[index] !== before[index])
    expect(changed.map((index) => after[index])).toEqual(closedVariables.map(() => 0))
    expect(changed.map((index) => nameAt(before, index))).toEqual(closedVariables)
  })

  test("must all be there: another Bun may read them in another way", () => {
    using program = programWith(closedVariables.slice(1))
    const before = readFileSync(program.path)
    expect(() => closeSwitches(program.path)).toThrow(/BUN_OPTIONS nowhere, and not once/)
    expect(readFileSync(program.path)).toEqual(before)
  })

  test("must be there once: which of two is meant cannot be known", () => {
    using program = programWith([...closedVariables, "BUN_INSPECT"])
    expect(() => closeSwitches(program.path)).toThrow(/BUN_INSPECT more than once, and not once/)
  })
})

/** Texts between zero bytes, and longer ones that begin or end with one of them. */
function programWith(names: readonly string[]) {
  const folder = temporaryFolder()
  const path = join(folder.path, "program")
  const similar = ["MY_BUN_OPTIONS", "BUN_OPTIONS_TOO", "BUN_INSPECTOR"]
  writeFileSync(path, `\0${[...similar, ...names].join("\0")}\0`)
  return { path, [Symbol.dispose]: () => folder[Symbol.dispose]() }
}

function nameAt(bytes: Buffer, index: number): string {
  return bytes.subarray(index, bytes.indexOf(0, index)).toString()
}
