import type { Option } from "../arguments.ts"
import type { Command } from "../command.ts"
import { mcpClients } from "../mcp-install/clients.ts"

/** What a shell may offer at some place of a command line. */
export type Offer =
  | { kind: "words"; words: readonly string[] }
  | { kind: "executions"; which: "live" | "ended" | "all" }
  | { kind: "files" }
  | { kind: "directories" }
  /** Another program and its arguments. */
  | { kind: "program" }
  | { kind: "nothing" }

export type CompletedOption = {
  long: string
  short: string | null
  about: string
  mayRepeat: boolean
  /** Null for an option without a value. */
  value: { name: string; offer: Offer } | null
}

export type CompletedCommand = {
  /** One word or two. */
  name: string
  summary: string
  options: readonly CompletedOption[]
  /** One for each place. */
  operands: readonly Offer[]
  /** The last place may be taken again and again. */
  repeats: boolean
}

export const shells = ["bash", "zsh", "fish"] as const
export type Shell = (typeof shells)[number]

/** Of the list of commands, which has this one in it. */
export type ListedCommand = {
  readonly name: string
  readonly group: string
  readonly summary: string
  load(): Promise<Command>
}

/** Everything that can be completed, by the commands' own tables. */
export async function completionTable(
  commands: readonly ListedCommand[],
): Promise<CompletedCommand[]> {
  const table = await Promise.all(commands.map(completed))
  const words = [...new Set(commands.map(({ name }) => name.replace(/ .*/, "")))]
  const help: CompletedCommand = {
    name: "help",
    summary: "say how a command is used",
    options: [],
    operands: [{ kind: "words", words }],
    repeats: false,
  }
  return [...table, help]
}

async function completed(entry: ListedCommand): Promise<CompletedCommand> {
  const { help } = await entry.load()
  const options = Object.entries(help.options).map(([long, option]) => ({
    long,
    short: option.short ?? null,
    about: option.about.replace(/\s+/g, " "),
    mayRepeat: option.multiple === true,
    value: option.type === "boolean" ? null : { name: valueName(option), offer: offerOf(option) },
  }))
  return { name: entry.name, summary: entry.summary, options, ...operandsOf(entry, help.usage) }
}

function valueName(option: Option): string {
  return (option.value ?? "VALUE").replace(/[^\w=:|-]/g, "")
}

function offerOf({ value = "", choices }: Option): Offer {
  if (choices !== undefined) return { kind: "words", words: choices }
  if (value === "FILE" || /\bpath\b/.test(value)) return { kind: "files" }
  if (value === "DIR") return { kind: "directories" }
  const words = /^[<[]?((?:[a-z-]+\|)+[a-z-]+)[>\]]?$/.exec(value)?.[1]
  return words === undefined ? { kind: "nothing" } : { kind: "words", words: words.split("|") }
}

/** From the first line of usage that has operands: `signal [OPTIONS] SIGNAL ID…`. */
function operandsOf(
  entry: ListedCommand,
  usage: readonly string[],
): Pick<CompletedCommand, "operands" | "repeats"> {
  for (const line of usage) {
    const places = line
      .slice(entry.name.length)
      .replace(/\[[^\]]*\]|--?\w[\w-]* [A-Z:]+|--\w[\w-]*/g, " ")
      .split(" ")
      .filter((place) => /\w/.test(place))
    if (places.length === 0) continue
    const operands = places.map((place) => operandOffer(entry, place.replace("…", "")))
    return { operands, repeats: places.at(-1)?.endsWith("…") === true }
  }
  return { operands: [], repeats: false }
}

function operandOffer(entry: ListedCommand, place: string): Offer {
  switch (place) {
    case "ID":
      return { kind: "executions", which: whichExecutions(entry) }
    case "COMMAND":
      return { kind: "program" }
    case "SIGNAL":
      return { kind: "words", words: offeredSignals }
    case "CLIENT":
      return { kind: "words", words: mcpClients.map(({ name }) => name) }
    case "SHELL":
      return { kind: "words", words: shells }
    default:
      return /^[a-z]+$/.test(place) ? { kind: "words", words: [place] } : { kind: "nothing" }
  }
}

/** Those that people send. */
const offeredSignals = ["TERM", "INT", "HUP", "KILL", "QUIT", "USR1", "USR2", "STOP", "CONT"]

function whichExecutions({ group }: ListedCommand): "live" | "ended" | "all" {
  if (group === "Steer") return "live"
  return group === "Tidy" ? "ended" : "all"
}
