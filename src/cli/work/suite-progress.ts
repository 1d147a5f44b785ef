import { duration } from "../../lib/report/figures.ts"
import type { SuiteProgress } from "../../workflow/run/suite/run-suite.ts"
import type { Context } from "../context.ts"
import { coloursFor, isLively } from "../terminal/colours.ts"
import { eraseLine, type Text } from "../terminal/terminal-text.ts"
import { questionText } from "./show-progress.ts"

/** Says how far a suite is: a line for each test that has ended, and on a terminal what runs. */
export type SuiteView = AsyncDisposable & { tell: (progress: SuiteProgress) => void }

export function showSuite(context: Context): SuiteView {
  const { stderr, env } = context
  const { green, red } = coloursFor(stderr, env)
  const lively = isLively(stderr, env)
  const running = new Set<string>()
  let writing = Promise.resolve()
  const write = (text: Text) => {
    writing = writing.then(() => stderr.write(text)).catch(() => undefined) // nobody looks
  }
  const saidOf = (progress: Exclude<SuiteProgress, { kind: "begun" }>): Text => {
    if (progress.kind === "question") return questionText(progress)
    const { outcome, durationMs, reasons } = progress.result
    const paint = outcome === "passed" ? green : red
    const why = reasons.length === 0 ? "" : ` – ${reasons.join("; ")}`
    return [paint(outcome), ` in ${duration(durationMs)}${why}`]
  }
  return {
    tell(progress) {
      const test = progress.kind === "ended" ? progress.result.test : progress.test
      const name = `${test.category}/${test.id}`
      if (progress.kind === "begun") running.add(name)
      else write([lively ? eraseLine : "", `${name}: `, saidOf(progress), "\n"])
      if (progress.kind === "ended") running.delete(name)
      if (lively && running.size > 0) write([eraseLine, `running ${[...running].join(", ")}`])
    },
    async [Symbol.asyncDispose]() {
      if (lively) write(eraseLine)
      await writing
    },
  }
}
