import { z } from "zod"
import { NoticeKind } from "../execution/notice.ts"
import {
  Detail,
  type NotifyTarget,
  type Source,
  TargetName,
  urlProblem,
} from "../execution/notify-target.ts"
import { fail, ok, type Result } from "../lib/result.ts"
import { readYaml, yamlFaultText } from "../lib/yaml/read-yaml.ts"

const path = z.string().startsWith("/", "must be an absolute path")

/** Anybody on the way could read what goes to another machine without TLS. */
const Url = z.string().transform((text, context) => {
  const problem = urlProblem(text)
  if (problem === null) return text
  context.addIssue({ code: "custom", message: problem })
  return z.NEVER
})

const Rule = z.strictObject({
  principals: z.array(z.string().min(1)).min(1).optional(),
  labels: z.record(z.string(), z.string()).optional(),
})

const Target = z
  .strictObject({
    kind: z.enum(["webhook", "ntfy", "slack", "command"]),
    url: Url.optional(),
    url_file: path.optional(),
    secret_file: path.optional(),
    token_file: path.optional(),
    argv: z.array(z.string().min(1)).min(1).optional(),
    events: z
      .array(NoticeKind.exclude(["test"]))
      .min(1)
      .optional(),
    sent: z
      .union([z.enum(["always", "when-named"]), z.array(Rule).min(1)], {
        error: "write `always`, `when-named`, or a list of rules with `principals` or `labels`",
      })
      .default("when-named"),
    used_by: z
      .union([z.literal("everybody"), z.array(z.string().min(1))], {
        error: "write `everybody`, or a list of principals",
      })
      .default([]),
    include: z.array(Detail).default([]),
  })
  .superRefine((target, context) => {
    for (const [key, message] of keyProblems(target)) {
      context.addIssue({ code: "custom", message, path: [key] })
    }
  })
type Target = z.infer<typeof Target>

const NotifyFileSchema = z.strictObject({
  base_url: Url.optional(),
  targets: z.record(TargetName, Target),
})

export type NotifyFile = { baseUrl: string | null; targets: NotifyTarget[] }

/** The failure names the place in the file, and completes the sentence "… cannot be used: ". */
export function readNotifyFile(text: string): Result<NotifyFile, string> {
  const read = readYaml(text, NotifyFileSchema, { braces: "refused" })
  if (!read.ok) return fail(yamlFaultText(read.failure))
  const { base_url: baseUrl = null, targets } = read.value
  return ok({
    baseUrl: baseUrl?.replace(/\/+$/, "") ?? null,
    targets: Object.entries(targets).map(([name, target]) => targetOf(name, target)),
  })
}

/** The target that `--notify-command` makes: it is told of everything. */
export function commandTarget(argv: string[]): NotifyTarget {
  const asked = { kind: "command" as const, argv, sent: "always" as const, include: [] }
  return targetOf(commandTargetName, { ...asked, used_by: "everybody" })
}

export const commandTargetName = "command"

function targetOf(
  name: string,
  { sent, used_by: usedBy, include, ...asked }: Target,
): NotifyTarget {
  const events = asked.events ?? NoticeKind.options
  const rules =
    sent === "when-named"
      ? []
      : (sent === "always" ? [{}] : sent).map((rule: z.infer<typeof Rule>) => ({
          principals: rule.principals ?? null,
          labels: rule.labels ?? {},
        }))
  return { name, way: wayOf(asked), events: [...events, "test"], rules, usedBy, include }
}

function wayOf(asked: Omit<Target, "sent" | "used_by" | "include">): NotifyTarget["way"] {
  const { kind, secret_file = "", token_file, argv = [] } = asked
  const url: Source =
    asked.url_file === undefined ? { text: asked.url ?? "" } : { file: asked.url_file }
  switch (kind) {
    case "webhook":
      return { kind, url, secret: { file: secret_file } }
    case "ntfy":
      return { kind, url, token: token_file === undefined ? null : { file: token_file } }
    case "slack":
      return { kind, url }
    case "command":
      return { kind, argv }
  }
}

/** What a kind of target needs, and what means nothing to it. */
const keysOf = {
  webhook: { needs: ["secret_file"], takes: ["url", "url_file", "secret_file"] },
  ntfy: { needs: [], takes: ["url", "url_file", "token_file"] },
  slack: { needs: [], takes: ["url", "url_file"] },
  command: { needs: ["argv"], takes: ["argv"] },
} as const
const ofSomeKind = ["url", "url_file", "secret_file", "token_file", "argv"] as const

function keyProblems(target: Target): Array<[string, string]> {
  const { kind } = target
  const takes: readonly string[] = keysOf[kind].takes
  const problems: Array<[string, string]> = []
  for (const key of ofSomeKind) {
    if (target[key] !== undefined && !takes.includes(key)) {
      problems.push([key, `a target of the kind ${kind} has no ${key}`])
    }
  }
  for (const key of keysOf[kind].needs) {
    if (target[key] === undefined) problems.push([key, `a target of the kind ${kind} needs ${key}`])
  }
  const addresses = [target.url, target.url_file].filter((value) => value !== undefined)
  if (kind !== "command" && addresses.length !== 1) {
    problems.push(["url", `a target of the kind ${kind} needs either url or url_file`])
  }
  return problems
}
