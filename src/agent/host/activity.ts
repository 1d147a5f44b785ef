import type { Activity, Question } from "../../execution/agent.ts"

/** What is known of what an agent does, in times of a clock that never jumps. */
export type Doing = {
  /** Whether its program has said that it takes turns. */
  isReady: boolean
  startedMs: number
  /** Null while it lives, or has been given up. */
  restart: { attempt: number; mostAttempts: number; why: string } | null
  questions: readonly Question[]
  /** Until when a usage limit holds it up; null where none does. */
  limitedUntil: Date | null
  retry: { attempt: number; mostAttempts: number; until: Date; why: string } | null
  isCompacting: boolean
  /** The tool that it uses, the latest where there are several. */
  tool: { name: string; lastSignMs: number } | null
  hasTurn: boolean
  /** When something was last heard of it. */
  heardMs: number
}

const stallMs = { start: 30_000, api: 120_000, tool: 600_000 } as const

/** What an agent does, and what it waits for. */
export function activityOf(doing: Doing, nowMs: number): Omit<Activity, "since"> {
  const { restart, questions, limitedUntil, retry, tool } = doing
  if (restart !== null) {
    const { attempt, mostAttempts: most_attempts, why } = restart
    const awaited = `the agent's program to be started again: it ${why}`
    return { state: "starting", awaited, attempt, most_attempts }
  }
  if (!doing.isReady) return starting(doing, nowMs)
  const [question] = questions
  if (question !== undefined) {
    const several = questions.length === 1 ? "an answer" : `${questions.length} answers`
    const tools = question.tool === null ? {} : { tool: question.tool }
    return {
      state: "question",
      awaited: `${several} by a person`,
      ...tools,
      ...untilAnswered(questions),
    }
  }
  if (limitedUntil !== null) {
    const awaited = "the end of a usage limit; it goes on by itself then"
    return { state: "limit", awaited, until: limitedUntil.toISOString() }
  }
  if (retry !== null) {
    const { attempt, mostAttempts: most_attempts, until, why } = retry
    const awaited = `another try at the API, which answered: ${why}`
    return { state: "retrying", awaited, attempt, most_attempts, until: until.toISOString() }
  }
  if (doing.isCompacting) return { state: "compacting", awaited: "a summary of the conversation" }
  if (tool !== null) return usingTool(tool, nowMs)
  if (!doing.hasTurn) return { state: "idle", awaited: "a turn" }
  return thinking(doing, nowMs)
}

/** It goes on by itself when rules have answered the last of its questions. */
function untilAnswered(questions: readonly Question[]): Pick<Activity, "until"> {
  const times = questions.flatMap(({ answer_by }) => (answer_by === undefined ? [] : [answer_by]))
  const last = times.toSorted().at(-1)
  return last === undefined || times.length < questions.length ? {} : { until: last }
}

function starting({ startedMs }: Doing, nowMs: number): Omit<Activity, "since"> {
  if (nowMs - startedMs < stallMs.start) {
    return { state: "starting", awaited: "the agent's program to be ready" }
  }
  return {
    state: "stalled",
    awaited: `the agent's program to be ready, for more than ${stallMs.start / 1000} s`,
    todo: "read its standard error with `logs`; cancel it and start it again",
  }
}

function usingTool(
  { name, lastSignMs }: { name: string; lastSignMs: number },
  nowMs: number,
): Omit<Activity, "since"> {
  if (nowMs - lastSignMs < stallMs.tool) {
    return { state: "tool", awaited: `the tool ${name}`, tool: name }
  }
  return {
    state: "stalled",
    awaited: `the tool ${name}, without a sign of life for more than ${stallMs.tool / 60_000} min`,
    tool: name,
    todo: "interrupt the turn: the tool is ended, the session stays",
  }
}

function thinking({ heardMs }: Doing, nowMs: number): Omit<Activity, "since"> {
  if (nowMs - heardMs < stallMs.api) {
    return { state: "thinking", awaited: "the model's answer" }
  }
  return {
    state: "stalled",
    awaited: `the API, silent for more than ${stallMs.api / 1000} s`,
    todo: "wait, or interrupt the turn and send it again",
  }
}
