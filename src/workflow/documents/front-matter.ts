import { z } from "zod"
import type { RedPlace } from "../../execution/trial/announcement.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import { suggest } from "../../lib/suggest.ts"
import { readYaml } from "../../lib/yaml/read-yaml.ts"
import { placeOf } from "../../lib/yaml/yaml-lines.ts"
import type { DocumentFault } from "./fault.ts"

/** A command, and where it must fail. */
export type WorkCheck = {
  run: string
  red: RedPlace
  spoil: string | null // what runs before it where it must fail, with `red: spoil`
}

export type Graduation = { ratio: number; of: "life" | "version" }

/** What a prompt binds, or a task list for all of its tasks. */
export type WorkSettings = {
  name: string | null
  agent: string // `claude`, or a command line
  checks: WorkCheck[]
  guards: string[]
  setup: string[]
  needs: string[] // addresses that must be reachable
  protect: string[] | null // null: what the checks name
  recovery: WorkCheck[]
  graduation: Graduation
  others: ReadonlyMap<string, unknown> // entries of other programs, such as `description`
}

const command = z.string().trim().min(1, "must be a command").max(65_536)
const listOf = <Item extends z.ZodType>(item: Item) =>
  z.union([item.transform((one) => [one]), z.array(item)], "must be a list")

const redForm = 'red must be `base`, `empty` or, in quotes, `"spoil: COMMAND"`'
const Red = z.union(
  [
    z.enum(["base", "empty"]).transform((place) => ({ red: place, spoil: null })),
    z
      .string()
      .regex(/^spoil:\s*\S/)
      .transform((text) => ({ red: "spoil" as const, spoil: text.slice("spoil:".length).trim() })),
    z.strictObject({ spoil: command }).transform(({ spoil }) => ({ red: "spoil" as const, spoil })),
  ],
  redForm,
)
const Check = z.union(
  [
    command.transform((run): WorkCheck => ({ run, red: "base", spoil: null })),
    z
      .strictObject({ run: command, red: Red.default({ red: "base", spoil: null }) })
      .transform(({ run, red }): WorkCheck => ({ run, ...red })),
  ],
  "must be a command, or `{run: COMMAND, red: base}`",
)

const defaultGraduation: Graduation = { ratio: 10, of: "life" }

const Settings = z.looseObject({
  name: z.string().min(1).max(256).optional(),
  agent: command.default("claude"),
  checks: listOf(Check).default([]),
  guards: listOf(command).default([]),
  setup: listOf(command).default([]),
  needs: listOf(z.url()).default([]),
  protect: listOf(z.string().min(1)).optional(),
  recovery: listOf(Check).default([]),
  graduation: z
    .strictObject({ ratio: z.number().positive(), of: z.enum(["life", "version"]) })
    .partial()
    .default({}),
})

const ownKeys: readonly string[] = Object.keys(Settings.shape)

/** What Claude Code reads in the front matter of a skill, and what others write there. */
const knownKeys: ReadonlySet<string> = new Set(
  (
    "description when_to_use argument-hint arguments disable-model-invocation user-invocable " +
    "allowed-tools disallowed-tools model effort context hooks paths shell license metadata " +
    "compatibility version tags review files reviewer fixer previous"
  ).split(" "),
)

/** `firstLine` is that of the text in its file. */
export function readFrontMatter(
  text: string,
  firstLine: number,
): Result<WorkSettings, DocumentFault> {
  const at = (line: number, reason: string) => fail({ line: firstLine + line - 1, reason })
  const read = readYaml(text, Settings, { braces: "allowed" })
  if (!read.ok) {
    const { line, problem } = read.failure
    return at(line, isUnquotedSpoil(text, line) ? redForm : problem)
  }
  const { graduation, protect, name, ...rest } = read.value
  const others = new Map(Object.entries(rest).filter(([key]) => !ownKeys.includes(key)))
  for (const key of others.keys()) {
    const meant = knownKeys.has(key) ? null : suggest(key, ownKeys)
    if (meant === null) continue
    const reason = `${key} is not known: did you mean ${meant}?`
    return at(placeOf(text, [key]).line, reason)
  }
  const { agent, checks, guards, setup, needs, recovery } = rest
  return ok({
    agent,
    checks,
    guards,
    setup,
    needs,
    recovery,
    others,
    name: name ?? null,
    protect: protect ?? null,
    graduation: {
      ratio: graduation.ratio ?? defaultGraduation.ratio,
      of: graduation.of ?? defaultGraduation.of,
    },
  })
}

/** `red: spoil: rm x` reads well, but a second colon is no YAML. */
function isUnquotedSpoil(text: string, line: number): boolean {
  return /\bred:\s*spoil:/.test(text.split("\n")[line - 1] ?? "")
}

/** Of a file that binds nothing. */
export const noSettings: WorkSettings = {
  name: null,
  agent: "claude",
  checks: [],
  guards: [],
  setup: [],
  needs: [],
  protect: null,
  recovery: [],
  graduation: defaultGraduation,
  others: new Map(),
}
