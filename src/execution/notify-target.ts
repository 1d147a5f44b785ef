import { z } from "zod"
import { type Notice, NoticeKind } from "./notice.ts"

/** A name that a request may use: it can never be taken for an address. */
export const TargetName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,31}$/, "the name of a target: a-z, 0-9, - and _, at most 32")
export type TargetName = z.infer<typeof TargetName>

/** What a message says beside the facts, where its target asks for it. */
export const Detail = z.enum(["command", "labels", "output", "question"])
export type Detail = z.infer<typeof Detail>

/** A text that stands in the configuration, or in a file where it is a secret. */
const Source = z.union([z.object({ text: z.string() }), z.object({ file: z.string() })])
export type Source = z.infer<typeof Source>

const Way = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("webhook"), url: Source, secret: Source }),
  z.object({ kind: z.literal("ntfy"), url: Source, token: Source.nullable() }),
  z.object({ kind: z.literal("slack"), url: Source }),
  z.object({ kind: z.literal("command"), argv: z.array(z.string()).min(1) }),
])
export type Way = z.infer<typeof Way>

/** Whose executions, and with which labels; nothing said means any. */
const Rule = z.object({
  principals: z.array(z.string()).nullable(),
  labels: z.record(z.string(), z.string()),
})
export type Rule = z.infer<typeof Rule>

export const NotifyTarget = z.object({
  name: TargetName,
  way: Way,
  events: z.array(NoticeKind).describe("what it is told of"),
  rules: z.array(Rule).describe("of what it is told without being named"),
  usedBy: z
    .union([z.literal("everybody"), z.array(z.string())])
    .describe("principals that may name it, beside those with the scope `admin`"),
  include: z.array(Detail),
})
export type NotifyTarget = z.infer<typeof NotifyTarget>

export const NotifySettings = z.object({
  targets: z.array(NotifyTarget),
  baseUrl: z.string().nullable().describe("where links lead; null: where the service listens"),
})
export type NotifySettings = z.infer<typeof NotifySettings>

type Concerned = { principal: string; labels: Readonly<Record<string, string>> }

/** Whether a target is told of a notice about something of this principal with these labels. */
export function isTold(
  target: NotifyTarget,
  { kind }: Pick<Notice, "kind">,
  about: Concerned,
  named: readonly string[],
): boolean {
  if (!target.events.includes(kind)) return false
  return named.includes(target.name) || target.rules.some((rule) => concerns(rule, about))
}

function concerns({ principals, labels }: Rule, about: Concerned): boolean {
  if (principals !== null && !principals.includes(about.principal)) return false
  return Object.entries(labels).every(([name, value]) => about.labels[name] === value)
}

/** The commands of targets run as executions of this principal, which no client can be. */
export function principalOfTarget(name: TargetName): string {
  return `${ownPrincipals}${name}`
}

const ownPrincipals = "notify:"

/** Nobody is told of these: each would be followed by another. */
export function isOfTarget({ principal }: { principal: string }): boolean {
  return principal.startsWith(ownPrincipals)
}

/** Why an address cannot be sent to; null when it can. */
export function urlProblem(text: string): string | null {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return "must be an address that begins with https:// or http://"
  }
  if (url.username !== "" || url.password !== "") {
    return "must have no password in it: use url_file, secret_file or token_file"
  }
  const isHere = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname)
  if (url.protocol === "https:" || isHere) return null
  return "must begin with https://: only a receiver on this machine can do without"
}
