import { expect, test } from "bun:test"
import { dirname } from "node:path"
import { auditCommand } from "../../../src/cli/commands/audit.ts"
import { BrokenPipeError } from "../../../src/cli/context.ts"
import { type Text, terminalText } from "../../../src/cli/terminal/terminal-text.ts"
import { attempt, WrittenTrail } from "../../service/audit/written-trail.ts"
import { fakeContext, fakeOutput } from "../fake-context.ts"

test("audit --follow shows what is written while it shows the rest, once", async () => {
  using trail = new WrittenTrail({ fileBytes: 2000, files: 100 })
  trail.note(12)
  const before = trail.audit.head.number
  const output = fakeOutput()
  let written = 0
  const stdout = {
    ...output,
    async write(text: Text) {
      await output.write(text)
      written += 1
      if (written === 1) trail.note(3)
      if (written === before) trail.audit.note(attempt({ method: "the-last" }))
      if (terminalText(text).includes("the-last")) throw new BrokenPipeError("has seen enough")
    },
  }
  const argv = ["--all", "--follow", "--json", "--state-dir", dirname(trail.directory)]

  const ended = await auditCommand.execute(fakeContext({ stdout }), argv).catch(String)

  expect(ended).toContain("has seen enough")
  const all = trail.lines.map((line) => `${JSON.stringify(line)}\n`)
  expect(output.text()).toBe(all.join(""))
})
