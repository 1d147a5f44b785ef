import { z } from "zod"

/** To be found wherever the text was shown. */
const mark = "HOSTILE"

/**
 * Short enough for an id. Sets a title, a colour that is none of ours, clears the screen in both
 * ways, goes back, turns the direction of writing, hides, and begins a line.
 */
export const hostile =
  "\u001b]0;t\u0007\u001b[35m\u001b[2J\u009b2J\u0085\u009d\b\r\u202e\u2066\u200b\u{e0041}\u007f" +
  `\n${mark}`

/** The same, for where a NUL, a slash or a line end cannot be. */
export const hostileName = hostile.replaceAll("\n", "")

const escape = "\u001b"

// Ours: the colours, those of the log library, and what a spinner, a table and a detaching do.
const ownSequences = [
  // A session's view: a picture from its beginning to the rows below, and to its end.
  `${escape}\\[\\?2026h${escape}\\[\\?25l(?:${escape}\\[\\d+A)?\r${escape}\\[J`,
  `${escape}\\[\\?7h(?:${escape}\\[\\d+A)?\r` +
    `(?:${escape}\\[\\d+C)?${escape}\\[\\?25h${escape}\\[\\?2026l`,
  // A terminal that is drawn: its beginning, a picture, modes by their numbers, and its end.
  `${escape}\\[\\?1049h${escape}\\[22;0t${escape}\\[H`,
  `${escape}\\[\\?2026h${escape}\\[\\?25l(?:${escape}\\[0m${escape}\\[2J${escape}\\[\\?7l)?`,
  `${escape}\\[\\d+;1H`,
  `${escape}\\[0m${escape}\\[K(?:${escape}\\[\\d+G)?`,
  `${escape}\\[\\?(?:1|9|1000|1002|1003|1004|1006|2004)[hl]`,
  `${escape}[=>]`,
  `${escape}\\[[0-6] q`,
  `${escape}\\]2;[^\\p{Cc}]*${escape}\\\\`,
  `${escape}\\[\\d+;\\d+H(?=${escape}\\[\\?(?:25h|2026l))`,
  `${escape}\\[\\?2026l`,
  `${escape}\\[\\?7h${escape}\\[23;0t${escape}\\[\\?1049l${escape}\\[\\?25h`,
  `(?<!${escape}\\[\\?25l)${escape}\\[\\?7l`,
  `${escape}\\[\\?2004h`,
  `${escape}\\[(?:0|1|2|22|3[12346]|39|90)m`,
  `\\r${escape}\\[2K`,
  `(?:${escape}\\[\\d+A)?\\r\n?${escape}\\[J`,
  `${escape}\\[\\?1049h${escape}\\[\\?25l${escape}\\[\\?7l`, // the list of `ps -i`
  `${escape}\\[\\?7h${escape}\\[\\?25h${escape}\\[\\?1049l`,
  `${escape}\\[H`,
  `${escape}\\[7m`,
  `${escape}\\[K(?=\r|${escape}\\[J)`,
  `${escape}\\[J`,
  `${escape}\\[\\?25h`,
  `${escape}\\[\\?(?:1000|1002|1003|1006|2004)l`,
].map((sequence) => new RegExp(sequence, "gu"))

/** Whether a hostile text was shown, whole or by its beginning, as short ids are. */
export function showsHostile(screen: string): boolean {
  return screen.includes(mark) || screen.includes("\\u001b]0;")
}

/** What a terminal got that it must not get; a terminal's driver writes \r\n for a line end. */
export function harmfulIn(screen: string): string[] {
  const others = ownSequences.reduce((text, own) => text.replaceAll(own, ""), screen)
  return others.replaceAll(/\r+\n/g, "\n").match(/[^\P{C}\n\t\p{Co}\p{Cn}]|[\p{Zl}\p{Zp}]/gu) ?? []
}

type JsonSchema = z.core.JSONSchema.BaseSchema

/**
 * A value that fits a schema, and is hostile wherever the schema lets it. Where there is a choice,
 * `variant` makes it: a few of them together make every one.
 */
export function hostileValueOf(schema: z.ZodType, variant: number): unknown {
  return fill(z.toJSONSchema(schema, { unrepresentable: "any", io: "input" }), variant)
}

function fill(schema: JsonSchema | boolean, variant: number): unknown {
  if (typeof schema === "boolean") return hostile
  if (schema.const !== undefined) return schema.const
  const choices = schema.enum ?? schema.anyOf ?? schema.oneOf
  if (choices !== undefined) {
    const chosen = choices[variant % choices.length]
    return schema.enum === undefined && typeof chosen === "object" && chosen !== null
      ? fill(chosen, variant)
      : chosen
  }
  // What may be missing is of two types.
  switch (Array.isArray(schema.type) ? schema.type[variant % schema.type.length] : schema.type) {
    case "string":
      return textOf(schema)
    case "integer":
    case "number":
      return Math.max(1, schema.minimum ?? 1)
    case "boolean":
      return variant % 2 === 0
    case "null":
      return null
    case "array":
      return [fill(itemsOf(schema), variant)]
    case "object":
      return fillObject(schema, variant)
    default:
      return hostile
  }
}

function textOf({ format, pattern }: JsonSchema): string {
  if (format === "date-time") return "2026-01-01T00:00:00.000Z"
  if (pattern === undefined) return hostile
  // The few patterns that there are on the wire are of ids, hashes and absolute paths.
  const lengths = [26, 10, 64].map((length) => "a".repeat(length))
  return [...lengths, `/${hostile}`].find((text) => new RegExp(pattern).test(text)) ?? hostile
}

function itemsOf({ items }: JsonSchema): JsonSchema | boolean {
  return items === undefined || Array.isArray(items) ? true : items
}

/** What acts in a trial: one of them, which no JSON schema of ours says. */
const oneOfThese = ["argv", "command", "session"]

function fillObject(schema: JsonSchema, variant: number): object {
  const properties = schema.properties ?? {}
  const excess = oneOfThese.every((name) => name in properties)
    ? oneOfThese.filter((_, index) => index !== variant % oneOfThese.length)
    : []
  const fields = Object.entries(properties).flatMap(([name, field]) => {
    return excess.includes(name) ? [] : [[name, fill(field, variant)] as const]
  })
  const { additionalProperties: more = false } = schema
  const extra = more === false ? [] : [[hostile, fill(more, variant)] as const]
  return Object.fromEntries([...fields, ...extra])
}
