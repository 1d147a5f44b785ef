import { pino } from "pino"
import { prettyFactory } from "pino-pretty"
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
  format: "auto" | "json" | "pretty"
  destination: LogDestination
}
export type ProcessName = "keeper" | "gateway" | "bridge"

/** Logging never throws: lines that cannot be made or written are counted, and the count told. */
export function createLogger(options: LogOptions): Logger {
  const { destination } = options
  const pretty =
    options.format === "pretty" || (options.format === "auto" && destination.isTerminal)
  const render = pretty ? prettyLines(destination) : harmless

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

/**
 * The library shows texts as they are, between colours of its own. So they are made harmless before
 * it gets them.
 */
function prettyLines(destination: LogDestination): (line: string) => string {
  const pretty = prettyFactory({
    translateTime: "SYS:HH:MM:ss.l",
    singleLine: true,
    ignore: "process,processId",
    messageFormat: "{process}: {msg}",
    // The library takes `pid` for the logging process's, while here it is a fact, a child's.
    customPrettifiers: { pid: (pid) => `pid ${JSON.stringify(pid)}` },
    // On a terminal the library decides on colour itself: it heeds NO_COLOR.
    ...(destination.isTerminal ? {} : { colorize: false }),
  })
  return (line) => pretty(JSON.parse(line, (_, value: unknown) => harmlessValue(value)))
}

function harmlessValue(value: unknown): unknown {
  if (typeof value === "string") return harmless(value)
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value)
  return Object.fromEntries(entries.map(([name, one]) => [harmless(name), one]))
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
