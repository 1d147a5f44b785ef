import { pino } from "pino"
import { z } from "zod"
import { harmless } from "../lib/harmless-text.ts"
import type { Facts, Log } from "../lib/log.ts"
import { tryParseJson } from "../lib/parse-json.ts"
import { censored } from "./censored.ts"
import type { LogDestination, Loss } from "./destination.ts"

export interface Logger extends Log {
  /** The same log with facts that every line has, as `executionId`. */
  child(bound: Facts): Log
  /** Takes another process's log, in pieces of any size, into the same destination. */
  relay(from: ProcessName): LineRelay
  flush(): Promise<void>
}

export type LogOptions = {
  process: ProcessName
  level: pino.LevelWithSilent
  destination: LogDestination
  /** What becomes of a line of JSON before it is written: {@link renderingFor}. */
  render?: (line: string) => string
}
export type LogFormat = "auto" | "json" | "pretty"
export type ProcessName = "keeper" | "gateway" | "bridge"

/** Whoever writes JSON does not pay for the library that makes it pretty. */
export async function renderingFor(
  format: LogFormat,
  { isTerminal }: Pick<LogDestination, "isTerminal">,
): Promise<(line: string) => string> {
  if (format === "json" || (format === "auto" && !isTerminal)) return harmless
  const { prettyLines } = await import("./pretty-lines.ts")
  return prettyLines(isTerminal)
}

/** Logging never throws: lines that cannot be made or written are counted, and the count told. */
export function createLogger(options: LogOptions): Logger {
  const { destination, render = harmless } = options

  const tellLoss = () => {
    const loss = destination.takeLoss()
    if (loss !== null) destination.write(render(lossNotice(options.process, loss)), loss.lostLines)
  }
  const emit = (line: string) => {
    tellLoss()
    destination.write(render(line), 1)
  }
  const lines = { write: emit }

  const own = { process: options.process, processId: process.pid }
  return {
    ...guarded(structured(own, options.level, lines), destination),
    relay(from) {
      const log = guarded(structured({ process: from }, options.level, lines), destination)
      const unstructured = (text: string) => log.error({ text }, "unstructured output")
      return lineRelay({ pass: (line) => attempt(destination, () => emit(line)), unstructured })
    },
    async flush() {
      await destination.flush()
      tellLoss() // there may be no next line
      await destination.flush()
    },
  }
}

function lossNotice(name: ProcessName, loss: Loss): string {
  const time = new Date().toISOString()
  const base = { level: "warn", time, process: name, processId: process.pid }
  return `${JSON.stringify({ ...base, ...loss, msg: "log lines were lost" })}\n`
}

type Level = "debug" | "info" | "warn" | "error"

function structured(base: object, least: string, lines: pino.DestinationStream): pino.Logger {
  return pino(
    {
      level: least,
      base,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    lines,
  )
}

function guarded(
  logger: pino.Logger,
  destination: LogDestination,
): Omit<Logger, "relay" | "flush"> {
  const at = (level: Level) => (facts: Facts, event: string) =>
    attempt(destination, () => logger[level](censored(facts, level === "debug"), event))
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    // What is bound goes into lines of every level.
    child: (bound) => guarded(logger.child(censored(bound, false)), destination),
  }
}

function attempt(destination: LogDestination, log: () => void): void {
  try {
    log()
  } catch (error) {
    // Any error at all: a getter or toJSON of a fact may throw what it likes.
    destination.countLoss({ lostLines: 1, reason: String(error) })
  }
}

export interface LineRelay {
  write(piece: Uint8Array): void
  end(): void
}

const longestRelayedLine = 1_048_576

/** Log lines pass as they are; anything else, say a runtime's dying words, is another matter. */
function lineRelay(sink: {
  pass: (line: string) => void
  unstructured: (text: string) => void
}): LineRelay {
  const decoder = new TextDecoder()
  let partial = ""

  const take = (line: string) => {
    if (isLogLine(line)) sink.pass(`${line}\n`)
    else if (line.trim() !== "") sink.unstructured(line)
  }
  return {
    write(piece) {
      const lines = (partial + decoder.decode(piece, { stream: true })).split("\n")
      partial = lines.pop() ?? ""
      for (const line of lines) take(line)
      if (partial.length < longestRelayedLine) return
      take(partial)
      partial = ""
    },
    end() {
      take(partial + decoder.decode())
      partial = ""
    },
  }
}

const LogLine = z.object({ level: z.string(), time: z.string(), msg: z.string() })

function isLogLine(line: string): boolean {
  return line.startsWith("{") && LogLine.safeParse(tryParseJson(line)).success
}
