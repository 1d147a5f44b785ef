import { closeSync, openSync, readFileSync, writeSync } from "node:fs"

/**
 * Variables by which Bun, also inside a compiled program, runs other code than the program's, or
 * lets others run some: before our first line, so that no line of ours could refuse.
 */
export const closedVariables = [
  "BUN_OPTIONS", // further arguments: --preload=FILE
  "BUN_BE_BUN", // be the `bun` command, and not the program
  "BUN_INSPECT", // listen for a debugger, who may evaluate anything
  "BUN_INSPECT_CONNECT_TO",
  "BUN_INSPECT_PRELOAD",
]

/**
 * Takes these variables from a compiled program. The runtime asks for each by a text that stands in
 * it once, between zero bytes; without its first letter that text is empty, and no variable has an
 * empty name. There is no option for this: https://bun.com/docs/bundler/executables.
 */
export function closeSwitches(program: string): void {
  const bytes = readFileSync(program)
  const places = closedVariables.map((name) => placeOf(bytes, name))
  const fd = openSync(program, "r+")
  try {
    for (const place of places) writeSync(fd, Uint8Array.of(0), 0, 1, place)
  } finally {
    closeSync(fd)
  }
}

function placeOf(bytes: Buffer, name: string): number {
  const text = `\0${name}\0`
  const place = bytes.indexOf(text)
  if (place !== -1 && bytes.indexOf(text, place + 1) === -1) return place + 1
  throw new Error(
    `Bun has ${name} ${place === -1 ? "nowhere" : "more than once"}, and not once: ` +
      "find out how it reads that variable now, and change scripts/build/close-switches.ts.",
  )
}
