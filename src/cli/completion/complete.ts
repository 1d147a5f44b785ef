import { type OptionTable, tokensOf } from "../arguments.ts"
import { commands, familyOf, findCommand } from "../commands.ts"
import type { Context } from "../context.ts"
import {
  type Candidate,
  nothing,
  type Offer,
  operandOffer,
  operandPlaces,
  valueOffer,
} from "./offer.ts"

/**
 * What a shell's script asks on TAB, with the words up to the one to complete. Answers lines: a
 * value, and after a tab what it is; or one line with a colon, where the shell knows better.
 */
export async function complete(context: Context, words: readonly string[]): Promise<number> {
  const lines = await linesOf(context, await offerAt(words))
  await context.stdout.write(lines.map((line) => `${line}\n`).join(""))
  return 0
}

async function linesOf(context: Context, offer: Offer): Promise<string[]> {
  switch (offer.kind) {
    case "candidates":
      return offer.candidates.map(candidateLine)
    case "executions": {
      // Most of the time nobody needs a service, nor what it takes to talk to one.
      const { offerExecutions } = await import("../executions/offer-executions.ts")
      return (await offerExecutions(context, offer)).map(candidateLine)
    }
    case "contexts": {
      const { offerContexts } = await import("../connect/offer-contexts.ts")
      return offerContexts(context).map(candidateLine)
    }
    case "files":
    case "directories":
      return [`:${offer.kind}`]
    case "command":
      return [`:command ${offer.wordCount}`]
  }
}

function candidateLine({ value, about }: Candidate): string {
  return about === undefined ? value : `${value}\t${about}`
}

/** What may stand in the place of the last of these words, which follow the program's name. */
async function offerAt(typed: readonly string[]): Promise<Offer> {
  const whole = joined(typed)
  const current = whole.at(-1)?.text ?? ""
  const before = whole.slice(0, -1).map(({ text }) => text)

  const isHelp = before[0] === "help"
  if (!current.startsWith("-")) {
    const candidates = nextWords(isHelp ? before.slice(1) : before)
    if (before.length === 0) candidates.push({ value: "help", about: "show the help of a command" })
    if (candidates.length > 0) return { kind: "candidates", candidates }
  }
  const found = isHelp ? null : findCommand(before)
  if (found === null) return nothing

  const { entry, rest } = found
  const { help } = await entry.load()
  const tokens = tokensOf(rest, help.options)
  const isOver = tokens.some(({ kind }) => kind === "option-terminator")
  const operands = tokens.filter(({ kind }) => kind === "positional")
  const { names, repeats } = operandPlaces(entry, help.usage)

  const [program] = operands
  if (names[0] === "COMMAND" && program !== undefined) {
    const start = whole[before.length - rest.length + program.index]?.index ?? typed.length
    return { kind: "command", wordCount: typed.length - start }
  }
  const last = tokens.at(-1)
  if (last?.kind === "option" && last.value === undefined) {
    const option = help.options[last.name]
    if (option?.type === "string") return valueOffer(option)
  }
  const given = tokens.flatMap((token) => (token.kind === "option" ? [token.name] : []))
  if (current.startsWith("-") && !isOver) return optionOffer(current, help.options, given)
  const place = names[operands.length] ?? (repeats ? names.at(-1) : undefined)
  if (place !== undefined) return operandOffer(entry, place, current)
  return isOver ? nothing : optionOffer("", help.options, given)
}

/** Bash cuts words at `=` and `:`, and hands `--env=A=b` over as five; `index` is of the first. */
function joined(typed: readonly string[]): { text: string; index: number }[] {
  const whole: { text: string; index: number }[] = []
  const isCut = (text: string | undefined) => text !== undefined && /^[=:]+$/.test(text)
  for (const [index, text] of typed.entries()) {
    const last = whole.at(-1)
    // An empty word comes after a space: it begins something new.
    if (last !== undefined && text !== "" && (isCut(text) || isCut(typed[index - 1]))) {
      last.text += text
    } else {
      whole.push({ text, index })
    }
  }
  return whole
}

/** The words that may follow these in the name of a command. */
function nextWords(before: readonly string[]): Candidate[] {
  const beginning = before.map((word) => `${word} `).join("")
  const next = new Map<string, Candidate>()
  for (const { name, summary } of commands) {
    if (!name.startsWith(beginning)) continue
    const [value = "", second] = name.slice(beginning.length).split(" ")
    const about = second === undefined ? summary : familyText(value)
    if (!next.has(value)) next.set(value, { value, about })
  }
  return [...next.values()]
}

function familyText(word: string): string {
  return familyOf(word)
    .map(({ name }) => name.slice(word.length + 1))
    .join(", ")
}

/** The value of `--option=`, or the options that are not given yet. */
function optionOffer(current: string, options: OptionTable, given: readonly string[]): Offer {
  const named = /^--([^=]+)=/.exec(current)?.[1]
  if (named !== undefined) {
    const option = Object.hasOwn(options, named) ? options[named] : undefined
    return option?.type === "string" ? valueOffer(option) : nothing
  }
  const left = Object.entries(options).filter(
    ([long, { multiple }]) => multiple === true || !given.includes(long),
  )
  const candidates = left.flatMap(([long, { short, about }]) => {
    const names = short === undefined ? [`--${long}`] : [`-${short}`, `--${long}`]
    return names.map((value) => ({ value, about: about.replace(/\s+/g, " ") }))
  })
  return { kind: "candidates", candidates }
}
