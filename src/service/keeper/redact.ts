import type { AgentSpec } from "../../execution/agent.ts"
import type { Redacted } from "../../execution/record.ts"
import type { ExecutionSpec } from "../../execution/spec.ts"
import type { Redaction } from "./ports.ts"

/** What is recorded of a request, as against what is launched: without what the patterns match. */
export function redactSpec(
  spec: ExecutionSpec,
  redaction: Redaction | null,
): { spec: ExecutionSpec; redacted: Redacted | null } {
  if (redaction === null) return { spec, redacted: null }
  let count = 0
  const redact = (text: string) => {
    const redacted = redaction.text(text)
    count += redacted.count
    return redacted.text
  }
  const argv = redaction.words(spec.argv)
  const command = spec.command === null ? null : redaction.text(spec.command)
  const labels = Object.entries(spec.labels).map(
    ([name, value]) => [redact(name), redact(value)] as const,
  )
  const recorded: ExecutionSpec = {
    ...spec,
    argv: argv.words,
    command: command?.text ?? null,
    cwd: redact(spec.cwd),
    envNames: spec.envNames.map(redact),
    labels: Object.fromEntries(labels),
    ...(spec.agent === undefined ? {} : { agent: redactAgent(spec.agent, redact) }),
  }
  // The command line and argv say the same thing twice.
  const inCommand = Math.max(argv.count, command?.count ?? 0)
  return { spec: recorded, redacted: { stdout: 0, stderr: 0, spec: count + inCommand } }
}

function redactAgent(agent: AgentSpec, redact: (text: string) => string): AgentSpec {
  if (agent.approval === undefined) return agent
  const approval = agent.approval.map(({ input, message, ...rule }) => ({
    ...rule,
    ...(message === undefined ? {} : { message: redact(message) }),
    ...(input === undefined ? {} : { input: redactValues(input, redact) }),
  }))
  return { ...agent, approval }
}

function redactValues(
  values: Record<string, string>,
  redact: (text: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, text]) => [name, redact(text)]))
}

const quoted = /"(?:[^"\\]|\\.)*"/g

/**
 * A message without what the patterns match. What somebody sent is quoted in it as JSON, where a
 * line end is written as two characters: it is looked at as it was sent, else a match would end
 * there and leave the rest.
 */
export function redactMessage(message: string, redaction: Redaction | null): string {
  if (redaction === null) return message
  const told = message.replace(quoted, (text) => {
    const sent = unquoted(text)
    const left = sent === null ? null : redaction.text(sent)
    return left === null || left.count === 0 ? text : JSON.stringify(left.text)
  })
  return redaction.text(told).text
}

/** Null where the quotes are not JSON's. */
function unquoted(text: string): string | null {
  try {
    return String(JSON.parse(text))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return null
  }
}
