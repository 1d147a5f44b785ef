import { join } from "node:path"
import { root } from "./steps.ts"
import { columns, terminalSession } from "./terminal/session.ts"
import { terminalSvg } from "./terminal/terminal-svg.ts"

// Writes the picture of the README from a real session with dist/cc-executor. An id is random; the
// test that compares the picture with another session knows one by a digit at its beginning.
let lines: string[] = []
do {
  lines = await terminalSession(join(root, "dist/cc-executor"))
} while (!/^\D{0,2}\d/.test(lines[1] ?? ""))
await Bun.write(join(root, "docs/pictures/terminal.svg"), terminalSvg(lines, columns))
