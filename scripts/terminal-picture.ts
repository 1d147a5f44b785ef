import { join } from "node:path"
import { picturedSession } from "../test/support/pictured-session.ts"
import { root } from "./steps.ts"
import { columns } from "./terminal/session.ts"
import { terminalSvg } from "./terminal/terminal-svg.ts"

// Writes the picture of the README from a real session with dist/cc-executor. An id is random; the
// test that compares the picture with another session knows one by a digit at its beginning.
let lines: string[] = []
do {
  lines = await picturedSession(join(root, "dist/cc-executor"))
} while (!/agent attach \D{0,2}\d/.test(lines.join(" ")))
await Bun.write(join(root, "docs/pictures/terminal.svg"), terminalSvg(lines, columns))
