import { z } from "zod"
import { type LogDestination, lossCounter } from "../../src/log/destination.ts"
import { createLogger, type Logger, type LogOptions } from "../../src/log/log.ts"

type Captured = {
  log: Logger
  written: () => string
  records: () => Array<Record<string, unknown>>
}

/** A logger whose lines stay in memory. */
export function captured(options: Partial<Omit<LogOptions, "destination">>): Captured {
  let text = ""
  const destination: LogDestination = {
    ...lossCounter(),
    isTerminal: false,
    write: (line) => {
      text += line
    },
    flush: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  const log = createLogger({ ...defaults, destination, ...options })
  return { log, written: () => text, records: () => parsed(text) }
}

export function logTo(destination: LogDestination): Logger {
  return createLogger({ ...defaults, destination })
}

const defaults = { process: "keeper", level: "info" } as const

/** Line by line: throws where one is no JSON object, or the last is not ended. */
export function parsed(text: string): Array<Record<string, unknown>> {
  const lines = text.split("\n")
  if (lines.pop() !== "") throw new Error("the last line is cut off")
  return lines.map((line) => z.record(z.string(), z.unknown()).parse(JSON.parse(line)))
}
