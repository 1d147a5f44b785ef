import { z } from "zod"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { WorkText } from "../document.ts"
import type { DocumentFault } from "../fault.ts"
import type { Prompt } from "../prompt.ts"
import { type ReviewName, readReviewName } from "./review-name.ts"

/** What is to be reviewed, by whom, and what both sides have to know: one round of a review. */
export type ReviewRequest = WorkText & {
  kind: "review"
  name: ReviewName
  files: readonly string[]
  reviewer: string // `claude`, or a command line
  fixer: string
  previous: string | null // the list of fixes of the round before
  forReviewer: string // Markdown
  forFixer: string
}

const list = z.union([z.string().transform((one) => [one]), z.array(z.string())])
const Settings = z.object({
  review: z.string(),
  files: list.default([]),
  reviewer: z.string().trim().min(1).default("claude"),
  fixer: z.string().trim().min(1).default("claude"),
  previous: z.string().min(1).optional(),
})

/** Null for what is none: only a request has `review:` in its front matter. */
export function readReviewRequest(prompt: Prompt): Result<ReviewRequest, DocumentFault> | null {
  const { text, lines, regions, isBound, settings } = prompt
  if (!settings.others.has("review")) return null
  const at = lines.find(({ text: words }) => /^["']?review["']?\s*:/.test(words))?.number ?? 1
  const read = Settings.safeParse(Object.fromEntries(settings.others))
  if (!read.success) {
    const [issue] = read.error.issues
    const reason = `${issue?.path.map(String).join(" → ") ?? ""}: ${issue?.message ?? "is wrong"}`
    return fail({ line: at, reason })
  }
  const { review, files, reviewer, fixer, previous } = read.data
  const name = readReviewName(`${review}_fixes.json`)
  if (name === null) {
    const reason = `review: "${review}" is not a number and a component, such as 017_websocket`
    return fail({ line: at, reason })
  }
  return ok({
    kind: "review",
    text,
    lines,
    regions,
    isBound,
    settings,
    name: { seq: name.seq, component: name.component },
    files,
    reviewer,
    fixer,
    previous: previous ?? null,
    forReviewer: sectionOf(prompt, /\breviewer\b/i),
    forFixer: sectionOf(prompt, /\bfixer\b/i),
  })
}

/** What stands below the first heading of the second level that has the word, without comments. */
function sectionOf({ text, lines }: Prompt, word: RegExp): string {
  const heads = lines.filter(({ kind, text: words }) => kind === "prose" && /^##?\s/.test(words))
  const at = heads.findIndex(({ text: words }) => /^##\s/.test(words) && word.test(words))
  const head = heads[at]
  if (head === undefined) return ""
  const section = text.slice(head.next, heads[at + 1]?.start ?? text.length)
  return section.replace(/<!--[^]*?-->/g, "").trim()
}
