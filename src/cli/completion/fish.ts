import script from "./completion.fish" with { type: "text" }
import type { CompletedCommand, CompletedOption, Offer } from "./table.ts"

/** Lists and functions that say where one is, and a rule for everything that may follow. */
export function fishCompletion(table: readonly CompletedCommand[]): string {
  const double = table.filter(({ name }) => name.includes(" "))
  const withValue = table.flatMap(({ name, options }) =>
    options.flatMap(({ long, short, value }) => {
      if (value === null) return []
      return short === null ? [`${name} --${long}`] : [`${name} --${long}`, `${name} -${short}`]
    }),
  )
  const programs = table.filter(({ operands }) => operands[0]?.kind === "program")
  return [
    "# Completion of cc-executor for fish, made by `cc-executor completions fish`.",
    list(
      "__cc_executor_double",
      double.map(({ name }) => name),
    ),
    list("__cc_executor_with_value", withValue),
    list(
      "__cc_executor_programs",
      programs.map(({ name }) => name),
    ),
    script,
    "complete -c cc-executor -e",
    "complete -c cc-executor -f",
    ...table.flatMap(commandRules),
    "",
  ].join("\n")
}

function list(name: string, words: readonly string[]): string {
  return `set -g ${name} ${words.map(quoted).join(" ")}`
}

function commandRules(command: CompletedCommand): string[] {
  const { name, summary, options, operands, repeats } = command
  const [first = "", second] = name.split(" ")
  // The first word is typed where the command is still empty, the second where it is the first.
  const where = second === undefined ? quoted("__cc_executor_next '' 0") : next(first, 0, false)
  return [
    rule(where, `-a ${quoted(second ?? first)} -d ${quoted(summary)}`),
    ...(second === undefined
      ? []
      : [rule(quoted("__cc_executor_next '' 0"), `-a ${quoted(first)}`)]),
    ...options.map((option) =>
      rule(quoted(`__cc_executor_is ${quoted(name)}`), optionRule(option)),
    ),
    ...operands.map((offer, index) => {
      const goesOn = (repeats && index === operands.length - 1) || offer.kind === "program"
      return rule(next(name, index, goesOn), operandRule(offer))
    }),
  ]
}

function rule(condition: string, what: string): string {
  return `complete -c cc-executor -n ${condition} ${what}`
}

function next(command: string, place: number, goesOn: boolean): string {
  return quoted(`__cc_executor_next ${quoted(command)} ${place}${goesOn ? " +" : ""}`)
}

function optionRule({ long, short, about, value }: CompletedOption): string {
  const names = short === null ? `-l ${long}` : `-s ${short} -l ${long}`
  const described = `${names} -d ${quoted(about)}`
  return value === null ? described : `${described} ${valueRule(value.offer)}`
}

function valueRule(offer: Offer): string {
  return offer.kind === "files" ? "-r -F" : `-x ${operandRule(offer)}`
}

function operandRule(offer: Offer): string {
  switch (offer.kind) {
    case "words":
      return `-a ${quoted(offer.words.join(" "))}`
    case "executions":
      return `-k -a ${quoted(`(__cc_executor_executions ${offer.which})`)}`
    case "files":
      return "-F"
    case "directories":
      return `-a ${quoted("(__fish_complete_directories)")}`
    case "program":
      return `-F -a ${quoted("(__fish_complete_command)")}`
    case "nothing":
      return ""
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", String.raw`\'`)}'`
}
