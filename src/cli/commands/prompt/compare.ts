import { type Compared, comparePrompts } from "../../../workflow/run/compare-prompts.ts"
import { option } from "../../arguments.ts"
import { command } from "../../command.ts"
import { UsageFailure } from "../../failure.ts"
import { untilTold } from "../../terminal/interrupts.ts"
import { asLines } from "../../terminal/terminal-text.ts"
import { countOption } from "../../time.ts"
import { comparisonText } from "../../work/comparison-text.ts"
import { inWorld, workPath } from "../../work/in-world.ts"
import { readRunOptions, runOptions } from "../../work/run-arguments.ts"
import { runInBackground } from "../../work/run-in-background.ts"
import { showProgress } from "../../work/show-progress.ts"

export const promptCompareCommand = command({
  usage: ["prompt compare [OPTIONS] A B"],
  about: `\
Tries two prompts in turn, as \`prompt run\` does, and says whether one of them succeeds more often:
by Fisher's exact test, two-sided, at 0.05. Where it says "not significant", nothing shows that they
differ. Only the trials of this comparison are compared; they count in both ledgers as any other.

Exits with 0 if all trials could be counted, whichever is better.`,
  options: {
    trials: option("N", "how many trials of each (default 10)", { short: "n" }),
    jobs: option("N", "how many of them at a time (default 1)", { short: "j" }),
    ...runOptions,
  },
  examples: {
    "is the new text better?": "cc-executor prompt compare -n 20 old.md new.md",
    "four at a time, for at most five dollars":
      "cc-executor prompt compare -n 20 -j 4 --max-cost 5 old.md new.md",
  },
  operands: { atLeast: 2, atMost: 2, what: "The second file" },
  async run(context, { values, operands }) {
    const paths = [workPath(context, operands[0]), workPath(context, operands[1])] as const
    const trials = countOption("--trials", values.trials ?? "10")
    const jobs = countOption("--jobs", values.jobs ?? "1")
    if (trials < 1 || jobs < 1) throw new UsageFailure("--trials and --jobs: at least 1.")
    const options = readRunOptions(values)
    if (values.detach === true) {
      return runInBackground(context, ["prompt", "compare"], values, ...paths)
    }
    using told = untilTold(context)
    await using view = showProgress(context)
    const { signal } = told
    const { tell } = view
    const comparison = await inWorld(context, values, (world) =>
      comparePrompts(world, paths, { ...options, trials, jobs, signal, tell }),
    )
    await view[Symbol.asyncDispose]()
    const { p, isSignificant, better, prompts, notes, stopped } = comparison
    if (values.json === true) {
      const document = {
        p,
        test: "Fisher's exact test, two-sided",
        significant: isSignificant,
        better: better === null ? null : prompts[better].path,
        prompts: prompts.map(promptDocument),
        notes,
        stopped,
      }
      await context.stdout.write(`${JSON.stringify(document)}\n`)
    } else {
      const end = stopped === null ? [] : [`stopped: ${stopped}`]
      await context.stdout.write(asLines([...comparisonText(context, comparison), ...end]))
    }
    const counted = prompts.map(({ counts: { success, failure } }) => success + failure)
    return told.exitCode ?? (counted.every((count) => count === trials) ? 0 : 1)
  },
})

function promptDocument({ path, name, counts, interval, trials, costUsd }: Compared) {
  return {
    path,
    name,
    ...counts,
    interval_95: interval,
    cost_usd: costUsd,
    trials: trials.map(({ announcement, verdict }) => {
      return { trial: announcement.sequence, verdict, announced_at: announcement.announced_at }
    }),
  }
}
