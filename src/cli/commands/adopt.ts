import { adoptWork } from "../../workflow/run/adopt-work.ts"
import { flag } from "../arguments.ts"
import { command } from "../command.ts"
import { asLines } from "../terminal/terminal-text.ts"
import { inWorld, workOptions, workPath } from "../work/in-world.ts"

export const adoptCommand = command({
  usage: ["adopt [OPTIONS] FILE"],
  about: `\
Makes a work of a prompt or a task list that was written for something else. Counts and ticks that
stand there are kept as claims that nothing attests, and counting begins at 0:0. Nothing is run:
commands that look like checks are proposed, and it is up to you to write them into the file.`,
  options: { json: flag("one JSON document"), ...workOptions },
  examples: { "a list with ticks of unknown origin": "cc-executor adopt TASKS.md" },
  operands: { atLeast: 1, atMost: 1, what: "The file" },
  async run(context, { values, operands }) {
    const path = workPath(context, operands[0])
    const { claims, proposed } = await inWorld(context, values, (world) => adoptWork(world, path))
    if (values.json === true) {
      await context.stdout.write(`${JSON.stringify({ path, claims, proposed })}\n`)
      return 0
    }
    const of = (item: string | null) => (item === null ? "" : `${item}, `)
    const told = claims.map(({ item, line, words }) => `  ${of(item)}line ${line}: ${words}`)
    const checks = proposed.map(({ item, line, run }) => `  ${of(item)}line ${line}: ${run}`)
    await context.stdout.write(
      asLines([
        ...(told.length === 0 ? [] : ["Claimed, and not attested:", ...told]),
        ...(checks.length === 0 ? [] : ["Could be checks, if you say so:", ...checks]),
        `Adopted: ${path}`,
      ]),
    )
    return 0
  },
})
