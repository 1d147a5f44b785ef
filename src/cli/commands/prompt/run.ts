import { runPrompt } from "../../../workflow/run/run-prompt.ts"
import { workStatus } from "../../../workflow/run/work-status.ts"
import { flag, option } from "../../arguments.ts"
import { command } from "../../command.ts"
import { UsageFailure } from "../../failure.ts"
import { untilTold } from "../../terminal/interrupts.ts"
import { countOption } from "../../time.ts"
import { inWorld, workPath } from "../../work/in-world.ts"
import { readRunOptions, runOptions } from "../../work/run-arguments.ts"
import { runInBackground } from "../../work/run-in-background.ts"
import { showProgress } from "../../work/show-progress.ts"
import { countsText } from "../../work/status-text.ts"

export const promptRunCommand = command({
  usage: ["prompt run [OPTIONS] FILE"],
  about: `\
Tries a prompt, each time in a fresh copy of its directory: its checks must fail before the agent
begins, and pass when it has finished. The verdict on every trial is signed by the service, and
appended to FILE.intoto.jsonl; the counts in FILE are written from there. Of what the agent has
done, only the verdict is kept.

With --improve, an agent rewrites the text after each failure: only what stands below the front
matter, in a copy, with what happened as material. The failure becomes a recovery test. Whoever
touches the checks is refused.

Exits with 0 if every trial has passed. Ctrl-C ends the trial that runs, and says its verdict.`,
  options: {
    trials: option("N", "how many trials (default 1)", { short: "n" }),
    jobs: option("N", "how many of them at a time (default 1)", { short: "j" }),
    improve: flag("after a failure, have the text rewritten"),
    improver: option("AGENT", "with --improve: who rewrites it (default: the prompt's agent)"),
    ...runOptions,
  },
  examples: {
    "one trial": "cc-executor prompt run prompts/healthz.md",
    "ten more, two at a time, for at most five dollars":
      "cc-executor prompt run -n 10 -j 2 --max-cost 5 prompts/healthz.md",
    "until it gets better": "cc-executor prompt run -n 5 --improve prompts/healthz.md",
    "in the background": "id=$(cc-executor prompt run -d -n 10 prompts/healthz.md)",
  },
  operands: { atLeast: 1, atMost: 1, what: "The file" },
  async run(context, { values, operands }) {
    const path = workPath(context, operands[0])
    const trials = countOption("--trials", values.trials ?? "1")
    const jobs = countOption("--jobs", values.jobs ?? "1")
    const improve = values.improve === true ? { improver: values.improver ?? null } : null
    if (values.improver !== undefined && improve === null) {
      throw new UsageFailure("--improver needs --improve.")
    }
    if (improve !== null && jobs !== 1) {
      throw new UsageFailure("--improve goes one trial at a time: leave out --jobs.")
    }
    const options = readRunOptions(values)
    if (values.detach === true) {
      return runInBackground(context, ["prompt", "run"], values, path)
    }
    using told = untilTold(context)
    await using view = showProgress(context)
    const { signal } = told
    const { tell } = view
    const run = await inWorld(context, values, (world) =>
      runPrompt(world, path, { ...options, trials, jobs, improve, signal, tell }),
    )
    await view[Symbol.asyncDispose]()
    const status = workStatus(run.state)
    const passed = run.trials.filter(({ verdict }) => verdict === "PASSED").length
    if (values.json === true) {
      const verdicts = run.trials.map(({ announcement, verdict, reasons }) => {
        return { trial: announcement.sequence, verdict, reasons }
      })
      const { stopped, costUsd: cost_usd, improvements } = run
      const plain = { trials: verdicts, passed, cost_usd, stopped }
      const document = {
        ...status,
        run: improve === null ? plain : { ...plain, improvements },
      }
      await context.stdout.write(`${JSON.stringify(document)}\n`)
    } else {
      const stopped = run.stopped === null ? "" : `, stopped: ${run.stopped}`
      const all = `${passed} of ${trials} passed${stopped}`
      await context.stdout.write(`${all}; ${status.name} is at ${countsText(status)}\n`)
    }
    return told.exitCode ?? (passed === trials ? 0 : 1)
  },
})
