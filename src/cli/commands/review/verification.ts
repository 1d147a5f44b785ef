import { userInfo } from "node:os"
import { giveVerification } from "../../../workflow/run/review/give-verification.ts"
import { option } from "../../arguments.ts"
import { command } from "../../command.ts"
import { UsageFailure } from "../../failure.ts"
import { inWorld, workOptions, workPath } from "../../work/in-world.ts"

export const reviewVerificationCommand = command({
  usage: ["review verification [OPTIONS] FIXES.json ID --run COMMAND"],
  about: `\
Gives the verification of a fix a command: prose is never run. The command, and who has written it,
stand in the list of fixes and in the signed record of every trial of that fix. What an agent runs
within a trial cannot do this.`,
  options: {
    run: option("COMMAND", "what must fail before the fix, and succeed after it"),
    spoil: option(
      "COMMAND",
      "what makes it fail in a copy of the directory (default: it is empty)",
    ),
    by: option("NAME", "who has written it (default: you)"),
    ...workOptions,
  },
  examples: {
    "what `the log is JSON` means":
      "cc-executor review verification 017_log_fixes.json 2 --run 'jq . < app.log'",
  },
  operands: { atLeast: 2, atMost: 2, what: "The list of fixes, and the id of the fix," },
  async run(context, { values, operands }) {
    const [file, fix = ""] = operands
    const run = (values.run ?? "").trim()
    if (run === "") throw new UsageFailure("Say what is to be run: --run COMMAND.")
    const by = (values.by ?? userInfo().username).replace(/\s+/g, " ").trim()
    if (by === "") throw new UsageFailure("Say who has written it: --by NAME.")
    const spoil = values.spoil?.trim() || null
    const path = workPath(context, file)
    await inWorld(context, values, (world) =>
      giveVerification(world, path, { fix, run, spoil, by }),
    )
    await context.stdout.write(`${fix}: \`${run}\`, by ${by}\n`)
    return 0
  },
})
