import script from "./completion.zsh" with { type: "text" }
import type { CompletedCommand, CompletedOption, Offer } from "./table.ts"

/** A function for each command, by zsh's own `_arguments`, and the script that calls them. */
export function zshCompletion(table: readonly CompletedCommand[]): string {
  const single = table.filter(({ name }) => !name.includes(" "))
  const families = Map.groupBy(
    table.filter(({ name }) => name.includes(" ")),
    ({ name }) => name.replace(/ .*/, ""),
  )
  const alone = [...families.keys()].filter((first) => single.every(({ name }) => name !== first))
  const firstWords = [
    ...single.map(({ name, summary }) => described(name, summary)),
    ...alone.map((first) => described(first, `${first} …`)),
  ]
  return [
    "#compdef cc-executor",
    "# Completion of cc-executor for zsh, made by `cc-executor completions zsh`.",
    describing("_cc_executor_commands", firstWords),
    ...[...families].map(([first, members]) =>
      describing(
        `_cc_executor_family_${first}`,
        members.map(({ name, summary }) => described(name.replace(/^\S+ /, ""), summary)),
      ),
    ),
    ...table.map(argumentsOf),
    script,
  ].join("\n\n")
}

function describing(name: string, words: readonly string[]): string {
  const rows = words.map((word) => `    ${word}`)
  return [
    `${name}() {`,
    "  local -a found=(",
    ...rows,
    "  )",
    "  _describe -t commands command found",
    "}",
  ].join("\n")
}

function described(word: string, about: string): string {
  return quoted(`${word}:${about}`)
}

function argumentsOf({ name, options, operands, repeats }: CompletedCommand): string {
  const specs = [...options.map(optionSpec), ...operandSpecs(operands, repeats)]
  return [
    `_cc_executor_of_${name.replace(" ", "_")}() {`,
    `  _arguments -s -S \\`,
    specs.map((spec) => `    ${spec}`).join(" \\\n"),
    "}",
  ].join("\n")
}

function optionSpec({ long, short, about, mayRepeat, value }: CompletedOption): string {
  const explained = about.replaceAll(/[[\]\\:]/g, String.raw`\$&`)
  const rest =
    value === null ? "" : `:${value.name.replaceAll(":", String.raw`\:`)}:${action(value.offer)}`
  const longName = value === null ? `--${long}` : `--${long}=`
  if (short === null) return quoted(`${mayRepeat ? "*" : ""}${longName}[${explained}]${rest}`)
  const shortName = value === null ? `-${short}` : `-${short}+`
  const before = mayRepeat ? "*" : `(-${short} --${long})`
  return `${quoted(before)}{${shortName},${longName}}${quoted(`[${explained}]${rest}`)}`
}

function operandSpecs(operands: readonly Offer[], repeats: boolean): string[] {
  return operands.flatMap((offer, index) => {
    // What follows is another program's command line: its own completion takes over.
    if (offer.kind === "program") {
      return [quoted(`(-)${index + 1}:program:_command_names -e`), quoted("*::arguments:_normal")]
    }
    const place = repeats && index === operands.length - 1 ? "*" : `${index + 1}`
    return [quoted(`${place}:${placeName(offer)}:${action(offer)}`)]
  })
}

function placeName(offer: Offer): string {
  return offer.kind === "executions" ? "execution" : " "
}

function action(offer: Offer): string {
  switch (offer.kind) {
    case "words":
      return `(${offer.words.join(" ")})`
    case "executions":
      return ` _cc_executor_executions ${offer.which}` // the space: without further arguments
    case "files":
      return "_files"
    case "directories":
      return "_files -/"
    case "program":
      return "_command_names -e"
    case "nothing":
      return " "
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
