import { parseArgs } from "node:util"
import { suggest } from "../lib/suggest.ts"
import { UsageFailure } from "./failure.ts"

export type Option = {
  readonly type: "boolean" | "string"
  readonly short?: string
  readonly multiple?: boolean
  /** Stands for the value in the help text. */
  readonly value?: string
  /** All that the value may be, for shells to offer. */
  readonly choices?: readonly string[]
  readonly about: string
  /** The heading under which help shows it and what follows; without one, it stands with others. */
  readonly heading?: string
}
export type OptionTable = Readonly<Record<string, Option>>

/** An option that stands alone. */
export function flag(about: string, more: Pick<Option, "short"> = {}) {
  return { type: "boolean", about, ...more } as const
}

/** An option that takes a value. */
export function option(value: string, about: string, more: Pick<Option, "short" | "choices"> = {}) {
  return { type: "string", value, about, ...more } as const
}

/** One that may be given more than once. */
export function repeatable(...given: Parameters<typeof option>) {
  return { ...option(...given), multiple: true } as const
}

export const helpOption = { help: flag("show this help", { short: "h" }) }

/** By an option's name: true, a text, or a list of texts; undefined when it is not given. */
export type Values<Options extends OptionTable> = ReturnType<typeof parseStrictly<Options>>

export type Arguments<Options extends OptionTable> = {
  values: Values<Options>
  operands: string[]
}

/**
 * Reads a command's arguments. With `passThrough` the options end at the first operand: what
 * follows is another program's command line.
 */
export function readArguments<Options extends OptionTable>(
  argv: readonly string[],
  options: Options,
  passThrough: boolean,
): Arguments<Options> {
  const split = splitOperands(argv, options, passThrough)
  for (const token of tokensOf(split.ours, options)) {
    if (token.kind === "option") checkOption(token, options)
  }
  return { values: parseStrictly(split.ours, options), operands: split.operands }
}

/** Looked at before anything else, so that help comes however wrong the rest is. */
export function asksForHelp(
  argv: readonly string[],
  options: OptionTable,
  passThrough: boolean,
): boolean {
  const { ours } = splitOperands(argv, options, passThrough)
  return tokensOf(ours, options).some(
    (token) => token.kind === "option" && (token.rawName === "--help" || token.rawName === "-h"),
  )
}

/** Of options that may be given more than once, the last one. */
export function givenValues(
  argv: readonly string[],
  options: OptionTable,
  passThrough: boolean,
): Record<string, string | undefined> {
  const { ours } = splitOperands(argv, options, passThrough)
  const tokens = tokensOf(ours, options).filter((token) => token.kind === "option")
  return Object.fromEntries(tokens.map(({ name, value }) => [name, value]))
}

function parseStrictly<Options extends OptionTable>(args: readonly string[], options: Options) {
  return parseArgs({ args, options, strict: true, allowPositionals: true }).values
}

/** What each of the arguments is, however wrong some of them are. */
export function tokensOf(args: readonly string[], options: OptionTable) {
  return parseArgs({ args, options, strict: false, tokens: true, allowPositionals: true }).tokens
}

function splitOperands(
  argv: readonly string[],
  options: OptionTable,
  passThrough: boolean,
): { ours: readonly string[]; operands: string[] } {
  const tokens = tokensOf(argv, options)
  const operands = tokens.filter((token) => token.kind === "positional")
  const end = tokens.find((token) => token.kind === "option-terminator")?.index ?? argv.length
  if (!passThrough) {
    return { ours: argv.slice(0, end), operands: operands.map(({ value }) => value) }
  }
  const first = operands[0]?.index ?? argv.length
  if (end < first) return { ours: argv.slice(0, end), operands: argv.slice(end + 1) }
  return { ours: argv.slice(0, first), operands: argv.slice(first) }
}

type OptionToken = Extract<ReturnType<typeof tokensOf>[number], { kind: "option" }>

function checkOption(token: OptionToken, options: OptionTable): void {
  const known = Object.hasOwn(options, token.name) ? options[token.name] : undefined
  if (known === undefined) throw unknownOption(token.rawName, options)
  if (known.type === "boolean") {
    if (token.value === undefined) return
    throw new UsageFailure(`${token.rawName} does not take a value.`)
  }
  const isMissing = token.value === undefined || (!token.inlineValue && /^-./.test(token.value))
  if (!isMissing) return
  const example = `${token.rawName}=${known.value ?? "VALUE"}`
  throw new UsageFailure(`${token.rawName} needs a value: ${example}.`)
}

function unknownOption(rawName: string, options: OptionTable): UsageFailure {
  const meant = suggest(
    rawName,
    Object.keys(options).map((name) => `--${name}`),
  )
  const hint = meant === null ? "" : ` Did you mean ${meant}?`
  return new UsageFailure(`Unknown option: ${rawName}.${hint}`)
}

/** `name=value` pairs of an option that may be given more than once. */
export function readPairs(source: string, pairs: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=")
      if (at < 1) throw new UsageFailure(`${source}: "${pair}" is not NAME=VALUE.`)
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
}
