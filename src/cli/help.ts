import type { Option, OptionTable } from "./arguments.ts"
import type { Command } from "./command.ts"
import { type CommandEntry, commandGroups, commands } from "./commands.ts"

/** What `cc-executor help` says. */
export function overview(): string {
  const width = Math.max(...commands.map((entry) => entry.name.length))
  const groups = commandGroups.map((group) => {
    const rows = commandRows(
      commands.filter((entry) => entry.group === group),
      width,
    )
    return `${group}:\n${rows}`
  })
  return [
    "cc-executor runs long-lived commands and lets you watch and control them live.",
    "Usage: cc-executor COMMAND [OPTIONS] …",
    ...groups,
    [
      "Commands use the local service, and start it if it is not running.",
      "ID is an execution's id, any unique prefix of it, or its name (run --name).",
      "See `cc-executor COMMAND --help` for the options of a command, with examples.",
    ].join("\n"),
    "Example:\n  cc-executor run -- make -j8 test",
  ].join("\n\n")
}

function commandRows(entries: readonly CommandEntry[], width: number): string {
  return entries.map((entry) => `  ${entry.name.padEnd(width)}  ${entry.summary}`).join("\n")
}

/** What `cc-executor token` says: the commands that begin with that word. */
export function familyHelp(entries: readonly CommandEntry[]): string {
  const width = Math.max(...entries.map((entry) => entry.name.length))
  const usage = entries.map((entry) => `cc-executor ${entry.name} [OPTIONS] …`)
  return [
    `Usage: ${usage.join("\n       ")}`,
    `Commands:\n${commandRows(entries, width)}`,
    "See `--help` of each command for its options, with examples.",
  ].join("\n\n")
}

export function commandHelp(entry: CommandEntry, { help }: Command): string {
  const usage = help.usage.map((line) => `cc-executor ${line}`).join("\n       ")
  const sections = [
    `${capitalized(entry.summary)}.`,
    `Usage: ${usage}`,
    ...(help.about === undefined ? [] : [help.about]),
    ...optionSections(help.options),
    `Examples:\n${exampleRows(help.examples)}`,
  ]
  return sections.join("\n\n")
}

function exampleRows(examples: Command["help"]["examples"]): string {
  return Object.entries(examples)
    .map(([about, command]) => `  # ${about}\n  ${command}`)
    .join("\n")
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** All together, but for those that have a heading of their own. */
function optionSections(options: OptionTable): string[] {
  const entries = Object.entries(options)
  const headings = new Set(entries.map(([, { heading }]) => heading))
  return [undefined, ...headings]
    .filter((heading, index, all) => all.indexOf(heading) === index)
    .map((heading) => {
      const under = entries.filter(([, option]) => option.heading === heading)
      return `${heading ?? "Options"}:\n${optionRows(Object.fromEntries(under))}`
    })
}

const widestNames = 30

function optionRows(options: OptionTable): string {
  const rows = Object.entries(options).map(([name, option]) => ({
    names: optionNames(name, option),
    about: option.about,
  }))
  const longest = Math.max(...rows.map(({ names }) => names.length))
  const width = Math.min(widestNames, longest)
  return rows
    .map(({ names, about }) => {
      const column = names.length > width ? `${names}\n${" ".repeat(width + 2)}` : names
      return `  ${column.padEnd(width)}  ${about}`
    })
    .join("\n")
}

function optionNames(name: string, option: Option): string {
  const short = option.short === undefined ? "    " : `-${option.short}, `
  return `${short}--${name}${option.value === undefined ? "" : ` ${option.value}`}`
}
