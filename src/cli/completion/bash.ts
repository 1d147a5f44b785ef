import script from "./completion.bash" with { type: "text" }
import type { CompletedCommand, Offer } from "./table.ts"

/** Tables of what there is, as functions, and the script that looks things up in them. */
export function bashCompletion(table: readonly CompletedCommand[]): string {
  const firstWords = [...new Set(table.map(({ name }) => name.replace(/ .*/, "")))]
  return [
    "# Completion of cc-executor for bash, made by `cc-executor completions bash`.",
    "# shellcheck shell=bash",
    `_cc_executor_commands() {\n  echo 'words ${firstWords.join(" ")}'\n}`,
    lookUp("_cc_executor_family", "$1", families(table)),
    lookUp("_cc_executor_options", "$1", table.map(optionsRow)),
    lookUp("_cc_executor_value", '"$1 $2"', table.flatMap(valueRows)),
    lookUp("_cc_executor_operands", "$1", table.flatMap(operandsRow)),
    script,
  ].join("\n\n")
}

type Row = { patterns: readonly string[]; lines: readonly string[] }

function lookUp(name: string, subject: string, rows: readonly Row[]): string {
  const quoted = (word: string) => `'${word}'`
  const cases = rows.map(({ patterns, lines }) => {
    const printed = lines.map(quoted).join(" ")
    return `    ${patterns.map(quoted).join(" | ")}) printf '%s\\n' ${printed} ;;`
  })
  return [`${name}() {`, `  case ${subject} in`, ...cases, "  esac", "}"].join("\n")
}

/** The second words that commands with this first word have. */
function families(table: readonly CompletedCommand[]): Row[] {
  const seconds = Map.groupBy(
    table.flatMap(({ name }) => (name.includes(" ") ? [name.split(" ")] : [])),
    ([first]) => first ?? "",
  )
  return [...seconds].map(([first, names]) => ({
    patterns: [first],
    lines: [`words ${names.map(([, second]) => second).join(" ")}`],
  }))
}

function optionsRow({ name, options }: CompletedCommand): Row {
  const words = options.flatMap(({ long, short }) =>
    short === null ? [`--${long}`] : [`-${short}`, `--${long}`],
  )
  return { patterns: [name], lines: [`words ${words.join(" ")}`] }
}

function valueRows({ name, options }: CompletedCommand): Row[] {
  return options.flatMap(({ long, short, value }) => {
    if (value === null) return []
    const names = short === null ? [`--${long}`] : [`--${long}`, `-${short}`]
    return [{ patterns: names.map((option) => `${name} ${option}`), lines: [text(value.offer)] }]
  })
}

/** A line for each place; `again` where the last one repeats. */
function operandsRow({ name, operands, repeats }: CompletedCommand): Row[] {
  if (operands.length === 0) return []
  return [{ patterns: [name], lines: [...operands.map(text), ...(repeats ? ["again"] : [])] }]
}

function text(offer: Offer): string {
  switch (offer.kind) {
    case "words":
      return `words ${offer.words.join(" ")}`
    case "executions":
      return `executions ${offer.which}`
    case "files":
    case "directories":
    case "program":
    case "nothing":
      return offer.kind
  }
}
