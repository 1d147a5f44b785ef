import { z } from "zod"

/** What may stand in a list of fixes: ours, and what the first generation has written. */

export const severities = ["critical", "major", "minor"] as const
export type Severity = (typeof severities)[number]

/** Older lists have other words for them. */
const severityNames: ReadonlyMap<string, Severity> = new Map([
  ["critical", "critical"],
  ["blocker", "critical"],
  ["major", "major"],
  ["minor", "minor"],
  ["nit", "minor"],
])

const AnySeverity = z.string("must be critical, major or minor").transform((word, context) => {
  const severity = severityNames.get(word.trim().toLowerCase())
  if (severity !== undefined) return severity
  context.addIssue({ code: "custom", message: "must be critical, major or minor" })
  return z.NEVER
})

const mostCharacters = 65_536
/** All of it may be announced, committed or typed into a shell: see `announcement.ts`. */
const isText = (given: string) => given.isWellFormed() && !given.includes("\0")
const text = z
  .string("must be a text")
  .max(mostCharacters)
  .refine(isText, "must be text without a NUL")
const said = text.refine((given) => given.trim() !== "", "must not be empty")
const command = said.transform((given) => given.trim())

const Id = z
  .union([z.int(), text.trim().min(1).max(128)], "must be a number or a short text")
  .transform(String)

/** A number, several, or a text such as `45-50`; older lists have all of these. */
const Lines = z
  .union([z.int(), text.max(256), z.array(z.int()).max(100)], "must be the number of a line")
  .nullish()
  .transform((given) => (given === null || given === undefined ? null : [given].flat().join(", ")))

/** A command, and what spoils a copy of the directory so that it must fail there. */
const ClearCommand = z.object({ run: command, spoil: command.optional() })

const Verification = z
  .union([text, ClearCommand], "must be a command")
  .nullish()
  .transform((given) => {
    if (given === null || given === undefined) return { run: null, spoil: null, isCommand: false }
    if (typeof given === "string") {
      const run = given.trim()
      return { run: run === "" ? null : run, spoil: null, isCommand: false }
    }
    return { run: given.run, spoil: given.spoil ?? null, isCommand: true }
  })

/** The command that a verification in prose was given later, and by whom. */
const GivenCheck = z
  .object({ run: command, spoil: command.optional(), by: said })
  .transform(({ run, spoil, by }) => ({ run, spoil: spoil ?? null, by }))

/** What shows that something is fixed; `by` is null where the reviewer has written it. */
export type CheckOfFix = { run: string; spoil: string | null; by: string | null }

const WrittenFix = z
  .object({
    id: Id,
    severity: AnySeverity,
    file: text.nullish(),
    line: Lines,
    issue: said,
    fix: text.nullish(),
    verification: Verification,
    test: Verification.describe("what older lists call it"),
    check: GivenCheck.optional(),
  })
  .transform(({ file, fix, verification, test, check, ...rest }) => ({
    ...rest,
    file: file?.trim() ? file.trim() : null,
    fix: fix ?? "",
    verification: verification.run === null ? test : verification,
    check: check ?? null,
  }))
export type WrittenFix = z.output<typeof WrittenFix>

const mostFixes = 1000

/** For reading: what else stands in it is somebody's own. */
export const FixListForm = z.object(
  {
    review_id: text.max(256).nullish(),
    component: text.max(256).nullish(),
    date: text.max(64).nullish(),
    fixes: z.array(WrittenFix, "must be a list of fixes").max(mostFixes),
  },
  "must be an object with `fixes`",
)

/** What a reviewer has to deliver: more is asked of a new list than of one that is there. */
const NewFix = z.strictObject({
  id: z.union([z.int().min(1), z.string().min(1).max(64)]).describe("unique in this review"),
  severity: z.enum(severities),
  file: z.string().min(1).max(4096).describe("relative to the directory under review"),
  line: z.int().min(1).nullish().describe("null where it is about the whole file"),
  issue: z.string().min(1).max(mostCharacters).describe("what is wrong, and why"),
  fix: z.string().min(1).max(mostCharacters).describe("what to do about it"),
  verification: z
    .union([z.string().min(1).max(mostCharacters), z.strictObject(ClearCommand.shape)])
    .describe("a command for bash that fails now, and succeeds once it is fixed"),
  category: z.string().max(256).optional(),
})

export const NewFixes = z.array(NewFix).max(mostFixes)

/** A file may have more in it than what is asked for; a call may not. */
export const NewFixList = z.looseObject({
  review_id: z.string(),
  component: z.string(),
  date: z.string().regex(/^\d{4}-\d{2}-\d{2}/, "must be a date such as 2026-11-19"),
  fixes: z.array(NewFix.loose(), "must be a list of fixes").max(mostFixes),
})
