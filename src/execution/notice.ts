import { z } from "zod"
import type { AgentStatus, Question } from "./agent.ts"
import { nameOf } from "./name.ts"
import type { ExecutionRecord } from "./record.ts"
import { endFacts, type Outcome } from "./state.ts"
import type { Announcement, TrialVerdict } from "./trial/announcement.ts"

/** Something that people want to be told, whether they look or not. */

export const NoticeKind = z.enum([
  "ended",
  "failed",
  "lost",
  "question",
  "limit-reached",
  "limit-over",
  "budget-warning",
  "verification-broken",
  "test",
])
export type NoticeKind = z.infer<typeof NoticeKind>

/**
 * What a notice says by itself: never output, an argument or a message of somebody's making. What
 * a target is to be told beside it is read from the record when it is sent.
 */
export const NoticeFacts = z.object({
  name: z.string().nullable().describe("of the execution; the work of a trial"),
  agent: z.string().optional().describe("of an agent's session"),
  ending: z
    .object({
      outcome: z.string(),
      exit_code: z.int().nullable(),
      signal: z.string().nullable(),
      cause: z.string().nullable().describe("why it was stopped, where it was"),
    })
    .optional(),
  question: z.object({ id: z.string(), kind: z.string(), tool: z.string().nullable() }).optional(),
  until: z.iso.datetime().optional().describe("when a usage limit ends"),
  budget: z.object({ name: z.string(), limit: z.number(), used: z.number() }).optional(),
  verdict: z.string().optional().describe("of a trial"),
})
export type NoticeFacts = z.infer<typeof NoticeFacts>

export type Notice = {
  kind: NoticeKind
  /** The execution or trial that it is about: within it, notices are told in their order. */
  about: string
  principal: string
  /** What tells it from others of its kind about the same: a question's id, say. */
  subject: string
  facts: NoticeFacts
}

/** The one notice of an end. */
export function noticeOfEnd(record: ExecutionRecord): Notice | null {
  if (record.state.kind !== "ended") return null
  const { outcome } = record.state
  const facts = { ...factsOf(record), ending: endFacts(outcome) }
  return { ...of(record), kind: kindOfEnd(outcome), subject: "", facts }
}

/** `ended` is a success, as for whoever runs it: exit code 0, and nothing forced it to end. */
function kindOfEnd(outcome: Outcome): "ended" | "failed" | "lost" {
  if (outcome.kind === "lost") return "lost"
  return outcome.kind === "exited" && outcome.exitCode === 0 ? "ended" : "failed"
}

/** What has become worth telling between two statuses of an agent's session. */
export function noticesOfSession(before: AgentStatus | null, record: ExecutionRecord): Notice[] {
  const { agent: now } = record
  if (now === null || now === undefined) return []
  const common = { ...of(record), facts: factsOf(record) }
  return [
    ...newQuestions(before, now).map((question) => ({
      ...common,
      kind: "question" as const,
      subject: question.question_id,
      facts: { ...common.facts, question: questionFacts(question) },
    })),
    ...limitNotices(before?.limited_until ?? null, now.limited_until ?? null).map(
      ({ kind, until }) => ({
        ...common,
        kind,
        subject: until,
        facts: { ...common.facts, until },
      }),
    ),
    ...newWarnings(before, now).map(({ budget: name, limit, used }) => ({
      ...common,
      kind: "budget-warning" as const,
      subject: name,
      facts: { ...common.facts, budget: { name, limit, used } },
    })),
  ]
}

/** Those that a person is asked: what a rule answers at once is nobody's to answer. */
function newQuestions(before: AgentStatus | null, now: AgentStatus): Question[] {
  const known = new Set(before?.questions.map(({ question_id }) => question_id))
  return now.questions.filter(
    ({ question_id, decided_by }) => !known.has(question_id) && decided_by === undefined,
  )
}

/** A question that is asked again is told once, under the name that it has now. */
export function renamedQuestions(
  before: AgentStatus | null,
  now: AgentStatus | null,
): Array<{ from: string; to: string }> {
  if (now === null) return []
  return newQuestions(before, now).flatMap(({ question_id: to, replaces: from }) =>
    from === null ? [] : [{ from, to }],
  )
}

const mostToolCharacters = 64

function questionFacts({ question_id: id, kind, tool }: Question) {
  return { id, kind, tool: tool?.slice(0, mostToolCharacters) ?? null }
}

/** A limit whose end is told anew, because it moved, is the same limit. */
function limitNotices(
  before: string | null,
  now: string | null,
): Array<{ kind: "limit-reached" | "limit-over"; until: string }> {
  if (before === null && now !== null) return [{ kind: "limit-reached", until: now }]
  if (before !== null && now === null) return [{ kind: "limit-over", until: before }]
  return []
}

function newWarnings(before: AgentStatus | null, now: AgentStatus) {
  const known = new Set(before?.budget_warnings?.map(({ budget }) => budget))
  return (now.budget_warnings ?? []).filter(({ budget }) => !known.has(budget))
}

/** Whether a check that was to hold does not, or could not be made; null where all is well. */
export function noticeOfTrial(
  { trial: about, principal, work }: Announcement,
  verdict: TrialVerdict,
): Notice | null {
  switch (verdict) {
    case "PASSED":
    case "WARNED":
      return null
    case "FAILED":
    case "BROKEN":
    case "LOST": {
      const facts = { name: work.name, verdict }
      return { kind: "verification-broken", about, principal, subject: "", facts }
    }
  }
}

function of({ id: about, principal }: ExecutionRecord) {
  return { about, principal }
}

function factsOf({ spec }: ExecutionRecord): NoticeFacts {
  const name = nameOf(spec.labels)
  return spec.agent === undefined ? { name } : { name, agent: spec.agent.agent }
}
