import { graduate } from "../../../workflow/run/graduate.ts"
import { flag } from "../../arguments.ts"
import { command } from "../../command.ts"
import { asLines } from "../../terminal/terminal-text.ts"
import { inWorld, workOptions, workPath } from "../../work/in-world.ts"

export const promptGraduateCommand = command({
  usage: ["prompt graduate [OPTIONS] FILE"],
  about: `\
Moves a prompt that has proved itself to core/ beside it, with its ledger, and keeps a copy of both
with the final metrics in archive/. It needs ten successes for each failure, at least ten of them,
three recovery tests that are green, and an intact ledger. Otherwise it says what is missing, and
exits with 1.`,
  options: {
    skill: flag("to .claude/skills/NAME/SKILL.md instead, where Claude Code finds it"),
    json: flag("one JSON document"),
    ...workOptions,
  },
  examples: {
    "has it proved itself?": "cc-executor prompt graduate prompts/healthz.md",
    "make it a skill": "cc-executor prompt graduate --skill prompts/healthz.md",
  },
  operands: { atLeast: 1, atMost: 1, what: "The file" },
  async run(context, { values, operands }) {
    const path = workPath(context, operands[0])
    const asSkill = values.skill === true
    const { judgement, moved } = await inWorld(context, values, (world) =>
      graduate(world, path, { asSkill }),
    )
    const { counts, missing } = judgement
    const ratio = `${counts.success}:${counts.failure}`
    if (values.json === true) {
      const document = { graduated: moved !== null, ratio, missing, ...moved }
      await context.stdout.write(`${JSON.stringify(document)}\n`)
    } else if (moved === null) {
      const lines = missing.map((one) => `  ${one}`)
      await context.stdout.write(asLines([`Not graduated (${ratio}). What is missing:`, ...lines]))
    } else {
      const text = `Graduated with ${ratio}: ${moved.prompt}\nArchived: ${moved.archive}\n`
      await context.stdout.write(text)
    }
    return moved === null ? 1 : 0
  },
})
