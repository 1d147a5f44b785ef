import type { Option } from "../arguments.ts"
import type { CommandEntry } from "../commands.ts"

/** What may stand at some place of a command line. */
export type Offer =
  | { kind: "candidates"; candidates: readonly Candidate[] }
  | { kind: "executions"; which: "live" | "ended" | "all"; typed: string }
  | { kind: "contexts" }
  | { kind: "files" }
  | { kind: "directories" }
  /** Another program's command line: of the words typed so far, the last `wordCount` are its. */
  | { kind: "command"; wordCount: number }

export type Candidate = { readonly value: string; readonly about?: string }

export const nothing: Offer = { kind: "candidates", candidates: [] }

/** What an option's value may be. */
export function valueOffer({ value = "", choices }: Option): Offer {
  if (choices !== undefined) return words(choices)
  if (value === "CONTEXT") return { kind: "contexts" }
  if (value === "FILE" || /\bpath\b/.test(value)) return { kind: "files" }
  if (value === "DIR") return { kind: "directories" }
  const listed = /^[<[]?((?:[a-z-]+\|)+[a-z-]+)[>\]]?$/.exec(value)?.[1]
  return listed === undefined ? nothing : words(listed.split("|"))
}

/**
 * From the first line of usage that has operands: `signal [OPTIONS] SIGNAL ID…`. The last of them
 * may be given again and again where it `repeats`.
 */
export function operandPlaces(entry: CommandEntry, usage: readonly string[]) {
  for (const line of usage) {
    const names = line
      .slice(entry.name.length)
      .replace(/\[[^\]]*\]|--?\w[\w-]* [A-Z:]+|--\w[\w-]*/g, " ")
      .split(" ")
      .filter((name) => /\w/.test(name))
    if (names.length === 0) continue
    const repeats = names.at(-1)?.endsWith("…") === true
    return { names: names.map((name) => name.replace("…", "")), repeats }
  }
  return { names: [], repeats: false }
}

/** What an operand may be, by the name of its place. */
export async function operandOffer(
  { name: commandName }: CommandEntry,
  place: string,
  typed: string,
): Promise<Offer> {
  switch (place) {
    case "ID":
      return { kind: "executions", which: whichExecutions(commandName), typed }
    case "CONTEXT":
      return { kind: "contexts" }
    case "COMMAND":
      return { kind: "command", wordCount: 1 }
    case "SIGNAL":
      return words(offeredSignals)
    case "CLIENT": {
      const { mcpClients } = await import("../mcp-install/clients.ts")
      return words(mcpClients.map(({ name }) => name))
    }
    case "SHELL": {
      const { shells } = await import("../commands/completions.ts")
      return words(shells)
    }
    default:
      return /^[a-z]+$/.test(place) ? words([place]) : nothing
  }
}

function words(values: readonly string[]): Offer {
  return { kind: "candidates", candidates: values.map((value) => ({ value })) }
}

/** Those that people send. */
const offeredSignals = ["TERM", "INT", "HUP", "KILL", "QUIT", "USR1", "USR2", "STOP", "CONT"]

/** Those that a command can do something with. */
function whichExecutions(commandName: string): "live" | "ended" | "all" {
  switch (commandName) {
    case "attach":
    case "wait":
    case "pause":
    case "resume":
    case "cancel":
    case "signal":
    case "send":
      return "live"
    case "receipt":
    case "rm":
      return "ended"
    default:
      return "all"
  }
}
