import { shortId } from "../../execution/id.ts"
import type { Progress, Tell } from "../../workflow/run/trial/progress.ts"
import type { Context } from "../context.ts"
import { coloursFor, isLively } from "../terminal/colours.ts"
import { eraseLine, type Text } from "../terminal/terminal-text.ts"
import { durationText } from "../time.ts"

/** Says how far a run is: on a terminal in one line that changes, elsewhere by its verdicts. */
export type ProgressView = AsyncDisposable & { tell: Tell }

const refreshMs = 250

type Running = { step: string; sinceMs: number; item: string | null }

export function showProgress(context: Context): ProgressView {
  const { stderr, env } = context
  const lively = isLively(stderr, env)
  const running = new Map<number, Running>()
  let costUsd = 0
  let writing = Promise.resolve()
  let shown = false
  const write = (text: Text) => {
    writing = writing.then(() => stderr.write(text)).catch(() => undefined) // nobody looks
  }
  const refresh = () => {
    if (running.size === 0) return
    shown = true
    write([eraseLine, statusLine(running, costUsd)])
  }
  const say = (text: Text) => write([shown ? eraseLine : "", text, "\n"])
  const timer = lively ? setInterval(refresh, refreshMs) : null
  return {
    tell(progress) {
      note(running, progress)
      if (progress.kind === "verdict") costUsd += progress.cost_usd ?? 0
      const line = lineOf(context, progress)
      if (line !== null) say(line)
      if (lively) refresh()
    },
    async [Symbol.asyncDispose]() {
      if (timer !== null) clearInterval(timer)
      if (shown) write(eraseLine)
      await writing
    },
  }
}

function note(running: Map<number, Running>, progress: Progress): void {
  const sinceMs = performance.now()
  switch (progress.kind) {
    case "trial":
      running.set(progress.sequence, { step: "begins", sinceMs, item: progress.item })
      return
    case "step": {
      const item = running.get(progress.sequence)?.item ?? null
      running.set(progress.sequence, { step: progress.step, sinceMs, item })
      return
    }
    case "verdict":
      running.delete(progress.sequence)
      return
    case "step-ended":
    case "step-output":
    case "question":
    case "note":
      return
  }
}

function statusLine(running: ReadonlyMap<number, Running>, costUsd: number): string {
  const trials = [...running].map(([sequence, { step, sinceMs, item }]) => {
    const of = item === null ? "" : `${item}, `
    return `${of}trial ${sequence}: ${step} ${durationText(performance.now() - sinceMs)}`
  })
  const cost = costUsd === 0 ? "" : ` · $${costUsd.toFixed(2)} so far`
  return `${trials.join(" · ")}${cost}`
}

function lineOf(context: Context, progress: Progress): Text | null {
  const { green, red, yellow } = coloursFor(context.stderr, context.env)
  switch (progress.kind) {
    case "verdict": {
      const { verdict, reasons, sequence, item, cost_usd: cost } = progress
      const paint = verdict === "PASSED" ? green : verdict === "FAILED" ? red : yellow
      const of = item === null ? "" : `${item}, `
      const paid = cost === null ? "" : ` ($${cost.toFixed(2)})`
      return [`${of}trial ${sequence}: `, paint(verdict), ` – ${reasons.join("; ")}${paid}`]
    }
    case "question": {
      return `trial ${progress.sequence}: ${questionText(progress)}`
    }
    case "step-output": {
      const { sequence, step, tail } = progress
      const lines = tail.split("\n").map((line) => `  ${line}`)
      return [`trial ${sequence}, ${step}:\n`, lines.join("\n")]
    }
    case "note":
      return progress.text
    case "trial":
    case "step":
    case "step-ended":
      return null
  }
}

type Asked = { execution_id: string; question_id: string; what: string }

export function questionText({ execution_id: id, question_id: question, what }: Asked): string {
  const answer = `cc-executor agent answer ${shortId(id)} ${question} allow`
  return `the agent ${what}: see \`cc-executor inbox\`; \`${answer}\` allows it`
}
