import { prettyFactory } from "pino-pretty"
import { harmless } from "../lib/harmless-text.ts"

/**
 * Makes a line of JSON into one for people. The library shows texts as they are, between colours of
 * its own. So they are made harmless before it gets them.
 */
export function prettyLines(isTerminal: boolean): (line: string) => string {
  const pretty = prettyFactory({
    translateTime: "SYS:HH:MM:ss.l",
    singleLine: true,
    ignore: "process,processId",
    messageFormat: "{process}: {msg}",
    // The library takes `pid` for the logging process's, while here it is a fact, a child's.
    customPrettifiers: { pid: (pid) => `pid ${JSON.stringify(pid)}` },
    // On a terminal the library decides on colour itself: it heeds NO_COLOR.
    ...(isTerminal ? {} : { colorize: false }),
  })
  return (line) => pretty(JSON.parse(line, (_, value: unknown) => harmlessValue(value)))
}

function harmlessValue(value: unknown): unknown {
  if (typeof value === "string") return harmless(value)
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value)
  return Object.fromEntries(entries.map(([name, one]) => [harmless(name), one]))
}
