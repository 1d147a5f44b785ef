import type { Question } from "../../../execution/agent.ts"
import { shortId } from "../../../execution/id.ts"
import type { NoticeFacts } from "../../../execution/notice.ts"
import type { ExecutionRecord } from "../../../execution/record.ts"
import { onOneLine } from "../../../lib/harmless-text.ts"
import type { PendingDelivery } from "../outbox-port.ts"

/** What a target is told, whatever form it wants that in. */
export type Message = {
  title: string
  text: string
  link: string | null
  isUrgent: boolean
  /** The whole of it, for those who read JSON. */
  json: Record<string, unknown>
}

/** What is known at the moment of sending; null for what has been removed meanwhile. */
export type Known = {
  record: ExecutionRecord | null
  details: Record<string, unknown>
  links: Links | null
}

/** Where links begin; null where the service has no address. To the console, where it is served. */
export type Links = { baseUrl: string; leadToConsole: boolean }

export function messageFor(delivery: PendingDelivery, known: Known): Message {
  const { id, notice, createdAt } = delivery
  const { kind, about, principal, facts } = notice
  const question = kind === "question" ? questionNow(notice.subject, known.record) : null
  const link = known.links === null ? null : linkTo(delivery, question, known.links)
  const { title, text } = wordsOf(delivery, question, known.record)
  const goesOnAs = restartedAs(known.record)
  return {
    title,
    text,
    link,
    isUrgent: urgentKinds.has(kind),
    json: {
      v: 1,
      id,
      event: kind,
      at: createdAt.toISOString(),
      title,
      text,
      link,
      ...subjectOf(delivery),
      name: facts.name,
      principal,
      ...(facts.agent && { agent: facts.agent }),
      ...(facts.ending && { ending: facts.ending }),
      ...(goesOnAs && { restarted_as: goesOnAs }),
      ...(question && { question: { ...facts.question, id: question.id, open: question.isOpen } }),
      ...(question && { command: commandFor(about, question) }),
      ...(facts.until && { limit: { until: facts.until } }),
      ...(facts.budget && { budget: facts.budget }),
      ...(facts.verdict && { verdict: facts.verdict }),
      ...known.details,
    },
  }
}

const urgentKinds: ReadonlySet<string> = new Set(["failed", "lost", "question"])

/** A question as it stands now: it may have been answered, or asked again under another name. */
type QuestionNow = { id: string; isOpen: boolean; question: Question | null }

export function questionNow(id: string, record: ExecutionRecord | null): QuestionNow {
  const isLive = record !== null && record.state.kind !== "ended"
  const open = isLive ? (record.agent?.questions ?? []) : []
  const question =
    open.find(({ question_id }) => question_id === id) ??
    open.find(({ replaces }) => replaces === id) ??
    null
  return { id: question?.question_id ?? id, isOpen: question !== null, question }
}

function restartedAs(record: ExecutionRecord | null): string | null {
  return record?.restart?.kind === "restarted" ? record.restart.as : null
}

function subjectOf({ notice: { kind, about } }: PendingDelivery) {
  if (kind === "test") return {}
  return kind === "verification-broken" ? { trial_id: about } : { execution_id: about }
}

function linkTo(
  { notice }: PendingDelivery,
  question: QuestionNow | null,
  { baseUrl, leadToConsole }: Links,
): string {
  if (notice.kind === "test") return baseUrl
  const path = leadToConsole ? placeInConsole(notice, question) : resourceOf(notice, question)
  return `${baseUrl}/${path}`
}

/** As the page itself writes its addresses. */
function placeInConsole(
  { kind, about, facts }: PendingDelivery["notice"],
  question: QuestionNow | null,
): string {
  if (kind === "verification-broken") return "#/work"
  if (question?.isOpen === true) return `#/inbox/${encodeURIComponent(`${about}-${question.id}`)}`
  return `#/executions/${about}${facts.agent === undefined ? "" : "/session"}`
}

function resourceOf(
  { kind, about, facts }: PendingDelivery["notice"],
  question: QuestionNow | null,
): string {
  if (kind === "verification-broken") return `trials/${about}`
  if (question !== null) return `agents/${about}#${encodeURIComponent(question.id)}`
  return `${facts.agent === undefined ? "executions" : "agents"}/${about}`
}

function commandFor(about: string, { id, isOpen }: QuestionNow): string {
  return isOpen
    ? `cc-executor agent answer ${shortId(about)} ${id} allow`
    : `cc-executor agent status ${shortId(about)}`
}

function wordsOf(
  { notice }: PendingDelivery,
  question: QuestionNow | null,
  record: ExecutionRecord | null,
): { title: string; text: string } {
  const { kind, about, facts } = notice
  const short = shortId(about)
  const name = facts.name === null ? short : `${onOneLine(facts.name)} (${short})`
  switch (kind) {
    case "ended":
      return { title: `${name} succeeded`, text: `${name} has ended with exit code 0.` }
    case "failed":
      return { title: `${name} failed`, text: `${name} has failed: ${howItEnded(facts)}.` }
    case "lost": {
      const as = restartedAs(record)
      const next = as === null ? "" : ` The session goes on as ${shortId(as)}.`
      const text = `${name} was lost: the service could not see it to its end.${next}`
      return { title: `${name} was lost`, text }
    }
    case "question": {
      const { tool = null } = facts.question ?? {}
      const what = tool === null ? "asks something" : `asks to use ${onOneLine(tool)}`
      if (question?.isOpen === true) {
        return {
          title: `${name} has a question`,
          text: `${name} ${what}, and waits for an answer.`,
        }
      }
      const text = `${name} had asked: it was answered meanwhile, or is not asked any more.`
      return { title: `${name}: question answered`, text }
    }
    case "limit-reached": {
      const isOver = record !== null && (record.agent?.limited_until ?? null) === null
      const since = isOver ? " It is over by now." : ""
      const text = `${name} has reached a usage limit, until ${facts.until}.${since}`
      return { title: `${name} waits for a usage limit`, text }
    }
    case "limit-over":
      return {
        title: `${name} goes on`,
        text: `The usage limit that held ${name} up is over.`,
      }
    case "budget-warning": {
      const { name: budget = "", used = 0, limit = 0 } = facts.budget ?? {}
      const text = `${name} has used ${used} of ${limit} of its budget of ${budget}.`
      return { title: `${name}: budget nearly used up`, text }
    }
    case "verification-broken": {
      const work = onOneLine(facts.name ?? short)
      const text = `A check of ${work} did not hold: the trial was judged ${facts.verdict}.`
      return { title: `${work}: verification ${facts.verdict}`, text }
    }
    case "test":
      return {
        title: "cc-executor: a test",
        text: "This is a test message. It was asked for with `cc-executor notify test`.",
      }
  }
}

function howItEnded({ ending }: NoticeFacts): string {
  if (ending === undefined) return "it is not known how"
  const { outcome, exit_code, signal, cause } = ending
  if (cause === "client") return "it was canceled"
  if (cause !== null) return `it was stopped (${cause})`
  if (signal !== null) return `it was ended by ${signal}`
  if (exit_code !== null) return `exit code ${exit_code}`
  return outcome === "failed-to-start" ? "it could not be started" : outcome
}
