import { expect } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../scripts/steps.ts"
import { terminalSession } from "../../scripts/terminal/session.ts"
import { linesOfSvg, withoutColours } from "../../scripts/terminal/terminal-svg.ts"
import { executable } from "../support/service.ts"
import { testUnless } from "../support/test-unless.ts"
import { ShownOutput } from "./shown-output.ts"

const missing = Bun.which("tmux") === null ? "needs tmux" : null
const picture = readFileSync(join(root, "docs/pictures/terminal.svg"), "utf8")

testUnless(missing, "the README's picture shows what a terminal shows", async () => {
  const shown = linesOfSvg(picture)
  const printed = await terminalSession(executable)

  expect(shown.length).toBeGreaterThan(10)
  expect(picture.length).toBeLessThan(100_000)
  const plain = printed.map(withoutColours)
  expect(new ShownOutput().difference(shown, plain)).toBeNull()
  // Colours are what a picture has before a block of text.
  expect(printed.join("")).not.toBe(plain.join(""))
  expect(picture).toContain('<tspan class="green">running</tspan>')
})
