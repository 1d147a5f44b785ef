import { expect } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../scripts/steps.ts"
import { linesOfSvg, withoutColours } from "../../scripts/terminal/terminal-svg.ts"
import { noClaudeCode } from "../support/claude-code.ts"
import { picturedSession } from "../support/pictured-session.ts"
import { executable } from "../support/service.ts"
import { testUnless } from "../support/test-unless.ts"
import { ShownOutput } from "./shown-output.ts"

const missing = Bun.which("tmux") === null ? "needs tmux" : noClaudeCode
const picture = readFileSync(join(root, "docs/pictures/terminal.svg"), "utf8")

testUnless(
  missing,
  "the README's picture shows what a terminal shows",
  async () => {
    // How many events there were depends on how fast everything was.
    const shown = linesOfSvg(picture).map((line) => line.replace(/, event \d+$/, ", event …"))
    const printed = await picturedSession(executable)

    expect(shown.length).toBeGreaterThan(10)
    expect(picture.length).toBeLessThan(100_000)
    const plain = printed.map(withoutColours)
    expect(new ShownOutput().difference(shown, plain)).toBeNull()
    // Colours are what a picture has before a block of text.
    expect(printed.join("")).not.toBe(plain.join(""))
    expect(picture).toContain('<tspan class="green">idle</tspan>')
  },
  120_000,
)
