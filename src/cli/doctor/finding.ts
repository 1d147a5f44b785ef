import { onOneLine } from "../../lib/harmless-text.ts"
import type { Colours } from "../terminal/colours.ts"
import type { Text } from "../terminal/terminal-text.ts"

/** One thing that was looked at: how it is, and what to do where it is not well. */
export type Finding = {
  level: "ok" | "warn" | "fail"
  name: string
  text: string
  advice?: string
}

export function ok(name: string, text: string): Finding {
  return { level: "ok", name, text }
}

export function warn(name: string, text: string, advice: string): Finding {
  return { level: "warn", name, text, advice }
}

export function fail(name: string, text: string, advice: string): Finding {
  return { level: "fail", name, text, advice }
}

export function findingLines(findings: readonly Finding[], colours: Colours): Text[] {
  const width = Math.max(...findings.map(({ name }) => name.length))
  const paint = { ok: colours.green, warn: colours.yellow, fail: colours.red }
  return findings.flatMap(({ level, name, text, advice }) => {
    const line = [paint[level](level.padEnd(4)), `  ${name.padEnd(width)}  ${onOneLine(text)}`]
    return advice === undefined ? [line] : [line, `${" ".repeat(width + 8)}→ ${onOneLine(advice)}`]
  })
}
