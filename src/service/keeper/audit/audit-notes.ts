import type { ExecutionRecord } from "../../../execution/record.ts"
import type { ExecutionSpec } from "../../../execution/spec.ts"
import type { RuleDecision } from "../../../protocol/agent-host.ts"
import type { ClientOrder } from "../../../protocol/agent-orders.ts"
import type { Attempt, AuditNote, CommandFacts } from "../../../protocol/audit-entry.ts"
import { couldNotStart } from "../../../protocol/audit-message.ts"
import type { ExecuteParams } from "../../../protocol/execute.ts"
import type { Redaction } from "../ports.ts"

type Started = Extract<AuditNote, { event: "service-started" }>["what"]

/** None for an execution that has not ended. */
export function endNotes({ id: execution_id, principal, state }: ExecutionRecord): AuditNote[] {
  if (state.kind !== "ended") return []
  const { outcome: own } = state
  const what = own.kind === "failed-to-start" ? { ...own, message: couldNotStart(own.errno) } : own
  return [{ event: "execution-ended", principal, execution_id, outcome: "happened", what }]
}

/** What a rule has decided, for whom; not what it was about, which stands in the transcript. */
export function decisionNote(
  { id: execution_id, principal }: ExecutionRecord,
  { behavior, ...what }: RuleDecision,
): AuditNote {
  const outcome = behavior === "allow" ? "allowed" : "refused"
  return { event: "question-decided", principal, execution_id, outcome, what }
}

/** None for a session that may still go on by itself. */
export function interruptedNotes({ id, principal, restart }: ExecutionRecord): AuditNote[] {
  if (restart?.kind !== "interrupted") return []
  const event = "session-interrupted"
  const what = { why: restart.why }
  return [{ event, principal, execution_id: id, outcome: "happened", what }]
}

/** None for one that goes on with no other. */
export function restartedNotes({ id, principal, spec }: ExecutionRecord): AuditNote[] {
  const { restartOf, restarts = 1 } = spec.agent ?? {}
  if (restartOf === undefined) return []
  const event = "session-restarted"
  const what = { as: id, attempt: restarts }
  return [{ event, principal, execution_id: restartOf, outcome: "happened", what }]
}

export function startNote(
  what: Omit<Started, "listen" | "pid" | "uid">,
  listens: { hosts: readonly string[]; port: number | null },
): AuditNote {
  const { hosts, port } = listens
  const listen = ["unix", ...(port === null ? [] : hosts.map((host) => `${host} port ${port}`))]
  const own = { pid: process.pid, uid: process.getuid?.() ?? 0 }
  return { event: "service-started", outcome: "happened", what: { ...what, ...own, listen } }
}

/** What was ordered, without what was said. */
export function orderFacts(order: ClientOrder): Pick<Attempt, "method" | "what"> {
  const method = `agent.${order.order}`
  if (order.order !== "answer") return { method }
  return { method, what: { type: `${order.behavior} ${order.questionId}` } }
}

const mostCommandCharacters = 4096
const mostNameCharacters = 1024

export function factsOfSpec({ argv, cwd, envNames, shell }: ExecutionSpec): CommandFacts {
  return { ...cutArgv(argv), cwd, ...cutNames(envNames), shell }
}

/** What somebody wanted to be executed, without what the patterns match. */
export function factsOfRequest(request: ExecuteParams, redaction: Redaction | null): CommandFacts {
  const { command, argv, cwd, shell } = request
  const told = (text: string) => redaction?.text(text).text ?? text
  return {
    ...(command === undefined ? {} : cutCommand(told(command))),
    ...(argv === undefined ? {} : cutArgv(redaction?.words(argv).words ?? argv)),
    ...(cwd === undefined ? {} : { cwd: told(cwd) }),
    ...cutNames(
      Object.keys(request.env ?? {})
        .map(told)
        .toSorted(),
    ),
    ...(shell === undefined ? {} : { shell }),
  }
}

function cutCommand(command: string): Pick<CommandFacts, "command" | "cut"> {
  const cut = Math.max(0, command.length - mostCommandCharacters)
  return { command: command.slice(0, mostCommandCharacters), ...(cut === 0 ? {} : { cut }) }
}

function cutArgv(argv: readonly string[]): Pick<CommandFacts, "argv" | "cut"> {
  const kept: string[] = []
  let room = mostCommandCharacters
  let cut = 0
  for (const argument of argv) {
    // Each takes one more, so that empty ones cannot be many.
    if (room > 0) kept.push(argument.slice(0, room))
    cut += Math.max(0, argument.length - Math.max(0, room))
    room -= argument.length + 1
  }
  const isCut = cut > 0 || kept.length < argv.length
  return { argv: kept, ...(isCut ? { cut: Math.max(1, cut) } : {}) }
}

function cutNames(names: readonly string[]): Pick<CommandFacts, "env" | "env_cut"> {
  let room = mostNameCharacters
  const env = names.filter((name) => {
    room -= name.length + 1
    return room >= 0
  })
  const cut = names.length - env.length
  return { env, ...(cut === 0 ? {} : { env_cut: cut }) }
}
