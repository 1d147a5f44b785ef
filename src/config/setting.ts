import { z } from "zod"
import type { TextForm } from "./text-form.ts"

export const settingGroups = [
  "Listening",
  "Executions",
  "Limits",
  "Output",
  "Disk",
  "Notifications",
  "Fleet",
  "Logs",
  "Lifetime",
] as const

export type SettingFacts = Omit<TextForm<unknown>, "schema"> & {
  group: (typeof settingGroups)[number]
  /** Without the dashes, where the setting's key does not say it. */
  flag?: string
  /** The variable's name in the first generation, still honoured. */
  bareVariable: string | null
  defaultText: string
  example: string
  /** One sentence, for people. */
  description: string
}

export const settingFacts = z.registry<SettingFacts>()

type Described = Pick<SettingFacts, "description"> &
  // Without a default text, it is `none`.
  Partial<Pick<SettingFacts, "flag" | "bareVariable" | "defaultText" | "example">>

/** Makes the settings of a group. */
export function settingsIn(group: SettingFacts["group"]) {
  // The registry knows a setting by the identity of its schema: a form serves one setting only.
  return <Value>(form: TextForm<Value>, facts: Described): z.ZodType<Value, string> => {
    const { schema, ...ofForm } = form
    const { bareVariable = null, defaultText = "none", example = defaultText } = facts
    const ofSetting = { ...facts, group, bareVariable, defaultText, example }
    return schema.register(settingFacts, { ...ofForm, ...ofSetting })
  }
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
