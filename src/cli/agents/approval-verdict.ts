import type { OwnedRule, PartVerdict, Verdict } from "../../execution/judge-question.ts"
import { durationText } from "../time.ts"

/** What would become of an agent's question, for people: one fact a line. */
export function verdictLines(verdict: Verdict, directory: string): string[] {
  return [
    firstLine(verdict),
    ...verdict.parts.flatMap(partLines),
    ...(verdict.deadline === null ? [] : [fact("deadline", deadlineText(verdict.deadline))]),
    fact("directory", directory),
  ]
}

/** The same for programs. */
export function verdictJson({ decide, deadline, rules, parts }: Verdict, directory: string) {
  const named = ({ name, from }: OwnedRule) => ({ name, from })
  return {
    decide,
    rules: rules.map(named),
    deadline: deadline && { after_ms: deadline.afterMs, then: deadline.then },
    parts: parts.map((part) => ({
      command: part.command,
      decide: part.decide,
      rule: part.rule && named(part.rule),
      unclear: part.unclear,
      passed_over: part.passedOver.map(({ rule, why }) => ({ ...named(rule), why })),
    })),
    directory,
  }
}

function firstLine({ decide, rules, parts }: Verdict): string {
  switch (decide) {
    case "allow":
      return "allowed"
    case "deny": {
      const [rule] = rules
      return `DENIED: ${rule?.message ?? "the rule gives no message"}`
    }
    case "ask": {
      const unclear = parts.find((part) => part.unclear !== null)
      if (unclear !== undefined) return `ASK: ${unclear.unclear}, so a rule cannot judge it.`
      return rules.length === 0 ? "ASK: no rule matches." : "ASK: a rule says so."
    }
  }
}

function partLines({ command, decide, rule, unclear, passedOver }: PartVerdict): string[] {
  const skipped = passedOver.map(({ rule: skippedRule, why }) =>
    fact("not by", `${ruleText(skippedRule)}: ${why}`),
  )
  const why = unclear === null ? ` → ${decide}` : ` → ask, since ${unclear}`
  const decided = rule === null ? "none matches → ask" : `${ruleText(rule)}${why}`
  return [
    ...(command === null ? [] : [fact("command", command)]),
    ...skipped,
    fact("rule", decided),
  ]
}

function ruleText({ name, from }: OwnedRule): string {
  return `${name} (of the ${from})`
}

function deadlineText({ afterMs, then }: NonNullable<Verdict["deadline"]>): string {
  const done = then === "allow" ? "allowed" : "denied"
  return `${done} after ${durationText(afterMs)} without an answer`
}

function fact(name: string, text: string): string {
  return `${name.padEnd(11)}  ${text}`
}
