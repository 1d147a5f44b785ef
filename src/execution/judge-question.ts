import { readDuration } from "../lib/duration.ts"
import { compileWholePattern, type WholePattern } from "../lib/pattern/whole-pattern.ts"
import type { Question } from "./agent.ts"
import type { ApprovalRule } from "./approval-rule.ts"
import { matchesName } from "./argument-rule.ts"
import { isWithin } from "./policy.ts"
import { type Readable, readField } from "./question-fields.ts"

/** A rule, and whose it is: the service's are asked first. */
export type OwnedRule = ApprovalRule & { from: "service" | "session" }

/** In the order in which they are asked. */
export function ownedRules(
  service: readonly ApprovalRule[],
  session: readonly ApprovalRule[] = [],
): OwnedRule[] {
  return [
    ...service.map((rule) => ({ ...rule, from: "service" as const })),
    ...session.map((rule) => ({ ...rule, from: "session" as const })),
  ]
}

export type Deadline = { afterMs: number; then: "allow" | "deny" }

/** What becomes of one simple command, or of a whole input that is not one for the shell. */
export type PartVerdict = {
  /** The simple command; null where the input is judged as a whole. */
  command: string | null
  decide: "allow" | "deny" | "ask"
  /** The rule that decides; null where none matches. */
  rule: OwnedRule | null
  /** Why it cannot be told whether that rule matches: then a person is asked. */
  unclear: string | null
  /** When it is decided without a person; null for never. */
  deadline: Deadline | null
  /** Rules that would allow it if it could be told that they match. */
  passedOver: { rule: OwnedRule; why: string }[]
}

export type Verdict = Pick<PartVerdict, "decide" | "deadline"> & {
  /** The rules that decide, by name; empty where none matches. */
  rules: OwnedRule[]
  parts: PartVerdict[]
}

type Asked = Pick<Question, "tool" | "input">

/** Whether rules may answer a question at all: what needs a person is never answered by one. */
export function mayBeJudged({ kind, tool, needs_person }: Question): boolean {
  return kind === "permission" && tool !== null && !needs_person
}

/** Judges questions by a list of rules: the first that matches decides. */
export class ApprovalJudge {
  readonly #rules: readonly OwnedRule[]
  /** The real path of the session's working directory. */
  readonly #directory: string
  readonly #patterns = new Map<string, WholePattern | null>()

  constructor(rules: readonly OwnedRule[], directory: string) {
    this.#rules = rules
    this.#directory = directory
  }

  /**
   * The simple commands of a line for the shell are judged one by one, and the strictest verdict
   * is that of the whole line.
   */
  judge(question: Asked): Verdict {
    const fields = new Map<string, Readable>()
    for (const name of new Set(this.#rules.flatMap(({ input = {} }) => Object.keys(input)))) {
      const field = readField(question.input, name, this.#directory)
      if (field !== null) fields.set(name, field)
    }
    const command = fields.get("command")
    const isSplit = command?.kind === "texts"
    const parts = isSplit
      ? command.texts.map((text) =>
          this.#judgePart(question, text, new Map([...fields, ["command", oneText(text)]])),
        )
      : [this.#judgePart(question, null, fields)]
    return strictest(parts)
  }

  #judgePart(
    question: Asked,
    command: string | null,
    fields: ReadonlyMap<string, Readable>,
  ): PartVerdict {
    const passedOver: PartVerdict["passedOver"] = []
    for (const rule of this.#rules) {
      const match = this.#match(rule, question, fields)
      if (match === false) continue
      const { decide } = rule
      if (match === true) {
        return { command, decide, rule, unclear: null, deadline: deadlineOf(rule), passedOver }
      }
      if (decide === "allow") passedOver.push({ rule, why: match })
      // What might have to be denied, or asked, is not left to the rules after this one.
      else return { command, decide: "ask", rule, unclear: match, deadline: null, passedOver }
    }
    return { command, decide: "ask", rule: null, unclear: null, deadline: null, passedOver }
  }

  /** A text says why it cannot be told. */
  #match(
    rule: OwnedRule,
    { tool, input: asked }: Asked,
    fields: ReadonlyMap<string, Readable>,
  ): boolean | string {
    const { directory, input = {} } = rule
    if (tool === null || !matchesName(rule.tool, tool)) return false
    if (directory !== undefined && !isWithin([directory], this.#directory)) return false
    let unclear: string | null = null
    for (const [name, pattern] of Object.entries(input)) {
      const field = fields.get(name)
      if (field === undefined) return false
      const compiled = this.#pattern(pattern)
      if (field.kind === "unclear") unclear ??= field.why
      else if (compiled === null) unclear ??= `the rule's pattern for ${name} is too complex`
      else if (!field.texts.every((text) => compiled.matches(text))) return false
    }
    if (unclear !== null) return unclear
    return leavesSandbox(asked) && !("dangerouslyDisableSandbox" in input) && rule.decide !== "deny"
      ? "it is to run outside the agent's sandbox"
      : true
  }

  /** Made ready when it is first needed; null where that is too much. */
  #pattern(text: string): WholePattern | null {
    const known = this.#patterns.get(text)
    if (known !== undefined) return known
    const compiled = compileWholePattern(text)
    const pattern = compiled.ok ? compiled.value : null
    this.#patterns.set(text, pattern)
    return pattern
  }
}

function oneText(text: string): Readable {
  return { kind: "texts", texts: [text] }
}

function leavesSandbox(input: unknown): boolean {
  const isSet = (value: object) => Reflect.get(value, "dangerouslyDisableSandbox") === true
  return typeof input === "object" && input !== null && isSet(input)
}

function deadlineOf({ after, then }: OwnedRule): Deadline | null {
  const afterMs = after === undefined ? undefined : readDuration(after)
  return afterMs === undefined || then === undefined ? null : { afterMs, then }
}

function strictest(parts: PartVerdict[]): Verdict {
  const denied = parts.find(({ decide }) => decide === "deny")
  if (denied !== undefined) return verdict("deny", [denied], parts, null)
  const asked = parts.filter(({ decide }) => decide === "ask")
  if (asked.length === 0) return verdict("allow", parts, parts, null)
  const open = asked.find(({ deadline }) => deadline === null)
  if (open !== undefined) return verdict("ask", [open], parts, null)
  // Whatever is denied first is denied; all of it is allowed only when the last part is.
  const byTime = asked.toSorted((a, b) => afterMsOf(a) - afterMsOf(b))
  const deciding = byTime.find(({ deadline }) => deadline?.then === "deny") ?? byTime.at(-1)
  return verdict("ask", deciding === undefined ? [] : [deciding], parts, deciding?.deadline ?? null)
}

function afterMsOf({ deadline }: PartVerdict): number {
  return deadline?.afterMs ?? 0
}

function verdict(
  decide: Verdict["decide"],
  deciding: readonly PartVerdict[],
  parts: PartVerdict[],
  deadline: Deadline | null,
): Verdict {
  const rules = new Set(deciding.flatMap(({ rule }) => (rule === null ? [] : [rule])))
  return { decide, deadline, rules: [...rules], parts }
}
