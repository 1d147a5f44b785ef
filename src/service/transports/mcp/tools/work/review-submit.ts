import { z } from "zod"
import { hasEnded } from "../../../../../execution/record.ts"
import { countText } from "../../../../../lib/count-text.ts"
import { tryParseJson } from "../../../../../lib/parse-json.ts"
import { fail } from "../../../../../lib/result.ts"
import { failure } from "../../../../../protocol/failure.ts"
import { NewFixes } from "../../../../../workflow/documents/review/fix-form.ts"
import { newestOutput } from "../../output/newest-output.ts"
import { reply, tool } from "../tool.ts"
import { waitForEnd } from "../wait-for-end.ts"
import { absolutePath, startOwn, workPath } from "./look-at-work.ts"
import { notYet } from "./run.ts"

const mostCharacters = 500_000

/** What the command prints. */
const Written = z.object({ feedback: z.string(), fixes: z.string() })

export const reviewSubmitTool = tool({
  name: "review_submit",
  title: "Deliver a review",
  description:
    "Delivers your review of what a request asks for: your feedback, and the list of what is to " +
    "be fixed. Run the usage checks of the request with `run` first, in the directory under " +
    "review, and name their execution_ids in the feedback: what it says of them is compared with " +
    "the record, and where that says otherwise, nothing is written and you are told why. Each " +
    "`verification` is a command that fails now and succeeds once its fix is done; it is run " +
    "before and after, and decides alone.",
  input: z.strictObject({
    path: workPath.describe("the request, SEQ_COMPONENT_review_request.md; absolute"),
    feedback: z
      .string()
      .min(1)
      .max(mostCharacters)
      .describe("Markdown; names executions by their full ids, with logs in code blocks below"),
    fixes: NewFixes.describe("what is to be done; empty where nothing is"),
  }),
  output: z.object({
    feedback: z.string().describe("the file that was written"),
    fixes: z.string().describe("the list that was written"),
    count: z.int().describe("fixes in it"),
  }),
  examples: {
    input: {
      path: "/home/me/project/orchestrator/017_log_review_request.md",
      feedback: "Execution k3tq7mzxw5yhd2vbn4c6fsaelu ended with exit 1: nothing is logged.",
      fixes: [
        {
          id: 1,
          severity: "critical",
          file: "src/log.py",
          line: 12,
          issue: "Errors are not logged.",
          fix: "Log them before they are raised.",
          verification: "pytest -q tests/test_log.py",
        },
      ],
    },
    output: {
      feedback: "/home/me/project/executor/017_log_review_feedback.md",
      fixes: "/home/me/project/executor/017_log_fixes.json",
      count: 1,
    },
    note: "Both files are written. `work_run` with the list has its 1 fix put right.",
  },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  needs: () => ["execute", "read", "control"],
  async answer({ path: given, feedback, fixes }, scope, call) {
    const path = absolutePath(given, call)
    if (!path.ok) return path
    const words = ["review", "submit", "--json"]
    const key = call.idempotencyKey
    const started = await startOwn(scope, call, { path: path.value, words, key, stdin: "pipe" })
    if (!started.ok) return started
    const { id } = started.value.record
    const data = new TextEncoder().encode(JSON.stringify({ feedback, fixes }))
    const taken = await scope.operations.input(scope.caller, id, {
      data,
      end: true,
      writer: "review_submit",
      offset: 0,
    })
    // What has ended before it has read says by itself why.
    if (!taken.ok && taken.failure.reason !== "WRONG_STATE") return taken
    const waited = await waitForEnd(scope, call, id, waitMs)
    if (!waited.ok) return waited
    const record = waited.value
    if (!hasEnded(record)) return notYet(record, path.value)
    const wanted = { lines: null, mostBytes: 64 * 1024 }
    const read = await newestOutput(scope, record, { ...wanted, stream: "stdout" })
    if (!read.ok) return read
    const written = Written.safeParse(tryParseJson(read.value.text))
    if (written.success) {
      const many = countText(fixes.length, "fix", "fixes")
      const note = `Both files are written. \`work_run\` with the list has its ${many} put right.`
      return reply(note, { ...written.data, count: fixes.length })
    }
    const said = await newestOutput(scope, record, { ...wanted, stream: "stderr" })
    if (!said.ok) return said
    const why = said.value.text.trim().replace(/^cc-executor: /, "")
    return fail(failure("INVALID_PARAMS", why === "" ? `See \`output\` of ${id}.` : why))
  },
})

const waitMs = 45_000
