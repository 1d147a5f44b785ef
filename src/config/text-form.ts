import { z } from "zod"
import { readDuration, scaled } from "../lib/duration.ts"

/** One way to write a value as text: how to read it, and what to tell whoever wrote it wrong. */
export type TextForm<Value> = {
  schema: z.ZodType<Value, string>
  /** Completes the sentence "expected …". */
  allowed: string
  /** How it is written, where that has to be said. */
  notation: string
  /** Stands for the value in a usage text. */
  placeholder: string
  /** A flag may stand alone, and then means `true`. */
  flagAlone: boolean
}

/** `read` answers undefined for a text that is not allowed. */
export function textForm<Value>(
  placeholder: string,
  allowed: string,
  read: (text: string) => Value | undefined,
  notation = "",
): TextForm<Value> {
  const schema = z.string().transform((text, context) => {
    const value = read(text.trim())
    if (value !== undefined) return value
    context.addIssue({ code: "custom", message: allowed })
    return z.NEVER
  })
  return { schema, allowed, notation, placeholder, flagAlone: false }
}

export function orNone<Value>(form: TextForm<Value>): TextForm<Value | null> {
  const allowed = `${form.allowed}, or none`
  return textForm(form.placeholder, allowed, wordOr("none", form), form.notation)
}

export function autoOr<Value>(form: TextForm<Value>): TextForm<Value | null> {
  const placeholder = `<auto|${form.placeholder.slice(1)}`
  return textForm(placeholder, `auto, or ${form.allowed}`, wordOr("auto", form))
}

export function orNever<Value>(form: TextForm<Value>): TextForm<Value | null> {
  const allowed = `${form.allowed}, or never`
  return textForm(form.placeholder, allowed, wordOr("never", form), form.notation)
}

function wordOr<Value>(word: string, form: TextForm<Value>) {
  return (text: string): Value | null | undefined =>
    text.toLowerCase() === word ? null : form.schema.safeParse(text).data
}

type Range = { min: string; max: string }

/** Milliseconds. A number without a unit is in seconds, as the first generation had it. */
export function duration(range: Range): TextForm<number> {
  const allowed = `a duration from ${range.min} to ${range.max}`
  const notation = "in seconds or with a unit: 500ms, 300s, 5m, 2h, 1d"
  return textForm("<duration>", allowed, within(readDuration, range), notation)
}

const bytesPerUnit = new Map([
  ["b", 1],
  ["k", 1024],
  ["m", 1024 ** 2],
  ["g", 1024 ** 3],
  ["t", 1024 ** 4],
])

/** Bytes. Every multiple is binary: k, KB and KiB are all 1024. */
export function size(range: Range): TextForm<number> {
  const allowed = `a size from ${range.min} to ${range.max}`
  const notation = "in bytes or with a unit: 64k, 64KiB, 1M, 1GiB"
  return textForm("<size>", allowed, within(readSize, range), notation)
}

export function readSize(text: string): number | undefined {
  return scaled(text, /^(\d+(?:\.\d+)?) ?(?:([kmgt])(?:i?b)?|b)?$/i, "b", bytesPerUnit)
}

function within(
  read: (text: string) => number | undefined,
  range: Range,
): (text: string) => number | undefined {
  const min = read(range.min) ?? Number.NaN
  const max = read(range.max) ?? Number.NaN
  return (text) => {
    const value = read(text)
    return value !== undefined && value >= min && value <= max ? value : undefined
  }
}

type NumberRange = { min: number; max: number }

export function count(range: NumberRange): TextForm<number> {
  return numberForm("a whole number", /^\d{1,15}$/, range)
}

export function decimal(range: NumberRange): TextForm<number> {
  return numberForm("a number", /^\d{1,15}(\.\d+)?$/, range)
}

function numberForm(what: string, pattern: RegExp, { min, max }: NumberRange): TextForm<number> {
  return textForm("<number>", `${what} from ${min} to ${max}`, (text) => {
    const value = pattern.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max ? value : undefined
  })
}

const booleans = new Map([
  ["true", true],
  ["yes", true],
  ["on", true],
  ["1", true],
  ["false", false],
  ["no", false],
  ["off", false],
  ["0", false],
])

export function boolean(): TextForm<boolean> {
  const form = textForm("[true|false]", "true or false", (text) => booleans.get(text.toLowerCase()))
  return { ...form, flagAlone: true }
}

/** In upper or lower case; `aliases` are further words for a choice. */
export function choice<const Choice extends string>(
  choices: readonly Choice[],
  aliases: Readonly<Record<string, Choice>> = {},
): TextForm<Choice> {
  const allowed = `${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`
  return textForm(`<${choices.join("|")}>`, allowed, (text) => {
    const word = text.toLowerCase()
    const meant = Object.hasOwn(aliases, word) ? aliases[word] : word
    return choices.find((candidate) => candidate === meant)
  })
}

/** Absolute: two processes and a command line tool use it, and each has its own directory. */
export function absolutePath(): TextForm<string> {
  return textForm("<path>", "an absolute path, or one starting with ~/", (text) =>
    text.startsWith("/") && !text.includes("\0") ? text : undefined,
  )
}
