import type { SettingFacts } from "./setting.ts"

type Described = Pick<SettingFacts, "allowed" | "notation" | "example">

/** What to tell whoever wrote a setting's value wrong; `source` is the flag or the variable. */
export function badValueText(setting: Described, source: string, text: string): string {
  return `${source}: ${JSON.stringify(text)} is not allowed; ${whatIsAllowed(setting, source)}`
}

export function whatIsAllowed({ allowed, notation, example }: Described, source: string): string {
  const how = notation === "" ? "" : `, ${notation}`
  return `allowed is ${allowed}${how} (for example ${assign(source, example)})`
}

function assign(source: string, value: string): string {
  return source.startsWith("--") ? `${source} ${value}` : `${source}=${value}`
}
