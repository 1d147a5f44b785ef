import { z } from "zod"
import type { TextForm } from "./text-form.ts"

export const settingGroups = [
  "Listening",
  "Executions",
  "Limits",
  "Output",
  "Disk",
  "Logs",
  "Lifetime",
] as const

export type SettingFacts = {
  group: (typeof settingGroups)[number]
  /** Without the dashes; the environment variable's name is made from it. */
  flag: string
  /** The variable's name in the first generation, still honoured. */
  bareVariable: string | null
  defaultText: string
  example: string
  /** One sentence, for people. */
  description: string
  allowed: string
  notation: string
  placeholder: string
  flagAlone: boolean
}

export const settingFacts = z.registry<SettingFacts>()

type Described = Pick<SettingFacts, "group" | "flag" | "defaultText" | "description"> &
  Partial<Pick<SettingFacts, "bareVariable" | "example">>

// The registry knows a setting by the identity of its schema: a form serves one setting only.
export function setting<Value>(form: TextForm<Value>, facts: Described): z.ZodType<Value, string> {
  const { allowed, notation, placeholder, flagAlone } = form
  const { bareVariable = null, example = facts.defaultText } = facts
  const entry = { ...facts, bareVariable, example, allowed, notation, placeholder, flagAlone }
  return form.schema.register(settingFacts, entry)
}

type ValueFacts = Pick<SettingFacts, "allowed" | "notation" | "example">

/** What to tell whoever wrote a setting's value wrong; `source` is the flag or the variable. */
export function badValueText(facts: ValueFacts, source: string, text: string): string {
  return `${source}: ${JSON.stringify(text)} is not valid; ${whatIsAllowed(facts, source)}`
}

export function whatIsAllowed({ allowed, notation, example }: ValueFacts, source: string): string {
  const how = notation === "" ? "" : `, ${notation}`
  return `expected ${allowed}${how} (for example ${assign(source, example)})`
}

function assign(source: string, value: string): string {
  return source.startsWith("--") ? `${source} ${value}` : `${source}=${value}`
}
