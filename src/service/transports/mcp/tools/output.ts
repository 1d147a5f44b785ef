import { z } from "zod"
import { type ExecutionRecord, StreamName } from "../../../../execution/record.ts"
import { countText } from "../../../../lib/count-text.ts"
import { compileLinePattern, type LinePattern } from "../../../../lib/pattern/line-pattern.ts"
import { fail, type Result } from "../../../../lib/result.ts"
import { type Failure, failure } from "../../../../protocol/failure.ts"
import { exampleExecution } from "../execution-summary.ts"
import { newestOutput } from "../output/newest-output.ts"
import { readPage } from "../output/output-page.ts"
import { searchOutput } from "../output/search-output.ts"
import type { McpScope } from "../ports.ts"
import type { Call } from "./call.ts"
import { ShownBytes } from "./run.ts"
import { executionId, reply, type ToolReply, tool } from "./tool.ts"

const Arguments = z.strictObject({
  execution_id: executionId,
  from: z
    .string()
    .min(1)
    .max(256)
    .default("start")
    .describe("`start`, or the `next` of an earlier answer: a page from there on"),
  last_lines: z.int().min(1).max(10_000).optional().describe("the newest lines instead of a page"),
  pattern: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe(
      "only lines that match this regular expression, from `from` on, numbered as grep -n does; " +
        "(?i) at its beginning ignores case; no lookaround, no \\b, no back-references",
    ),
  context_lines: z.int().min(0).max(50).default(0).describe("lines around each match to show"),
  stream: StreamName.optional().describe(
    "only this one; default: both, in the order they were written",
  ),
  max_bytes: ShownBytes,
})
type Arguments = z.output<typeof Arguments>

const Output = z.object({
  execution_id: z.string(),
  text: z.string(),
  next: z.string().describe("pass this as `from` to continue"),
  has_more: z.boolean().describe("more is available: continue from `next`"),
  ended: z.boolean().describe("true if nothing will ever follow `next`"),
  matches: z.int().nullable().describe("how many lines matched; null without a pattern"),
  missing: z
    .object({ bytes: z.int(), lines: z.int() })
    .nullable()
    .describe("output before `text` that was dropped by the budget and can no longer be read"),
  cut: z.boolean().describe("some of the newest lines are not shown because they did not fit"),
})
type Output = z.infer<typeof Output>

export const outputTool = tool({
  name: "output",
  title: "Read an execution's output",
  description:
    "Reads the output of a running or ended execution: page by page from a cursor (`from`), the " +
    "newest lines (`last_lines`), or the lines that match a pattern with lines around them " +
    "(`pattern`, `context_lines`). Continue from `next` to miss nothing.",
  input: Arguments,
  output: Output,
  examples: {
    input: { execution_id: exampleExecution.execution_id, pattern: "(?i)error", context_lines: 3 },
    output: {
      execution_id: exampleExecution.execution_id,
      text: "41-compiling\n42:error: no such file\n43-stop",
      next: "1.0.qp.1c4e.xg.0",
      has_more: false,
      ended: true,
      matches: 1,
      missing: null,
      cut: false,
    },
    note: "Matching lines: 1. This is the end of the output.",
  },
  annotations: { readOnlyHint: true, idempotentHint: true },
  needs: () => ["read"],
  async answer(args, scope, call) {
    const pattern = args.pattern === undefined ? null : compileLinePattern(args.pattern)
    if (pattern?.ok === false) {
      return fail(failure("INVALID_PARAMS", `pattern is not valid: ${pattern.failure}.`))
    }
    const found = await scope.operations.status(scope.caller, args.execution_id)
    if (!found.ok) return found
    const request = { ...args, execution_id: found.value.id }
    if (pattern !== null) return matching(request, pattern.value, scope, call)
    if (args.last_lines !== undefined) return newest(request, found.value, args.last_lines, scope)
    return page(request, scope)
  },
})

type Answered = Promise<Result<ToolReply<Output>, Failure>>

async function page(args: Arguments, scope: McpScope): Answered {
  const { execution_id, stream = null, max_bytes: mostBytes } = args
  const from = args.from.replace(/~\d+$/, "") // what a search says of its lines
  const read = await readPage(scope, { executionId: execution_id, from, stream, mostBytes })
  if (!read.ok) return read
  const { text, next, hasMore: has_more, ended, gap: missing } = read.value
  return answered({ execution_id, text, next, has_more, ended, missing })
}

async function newest(
  args: Arguments,
  record: ExecutionRecord,
  lines: number,
  scope: McpScope,
): Answered {
  const { execution_id, stream = null, max_bytes: mostBytes } = args
  const read = await newestOutput(scope, record, { lines, mostBytes, stream })
  if (!read.ok) return read
  const { text, next, ended, hasMore: has_more, isCut: cut } = read.value
  return answered({ execution_id, text, next, has_more, ended, cut })
}

async function matching(
  args: Arguments,
  pattern: LinePattern,
  scope: McpScope,
  call: Call,
): Answered {
  const { execution_id } = args
  const found = await searchOutput(scope, {
    executionId: execution_id,
    from: args.from,
    stream: args.stream ?? null,
    pattern,
    contextLines: args.context_lines,
    mostBytes: args.max_bytes,
    signal: call.signal,
  })
  if (!found.ok) return found
  const { text, next, ended, isComplete, matches, gap: missing } = found.value
  return answered({ execution_id, text, next, has_more: !isComplete, ended, matches, missing })
}

/** Most of what may be said of a page is true of few. */
type Shown = Omit<Output, "matches" | "missing" | "cut"> & Partial<Output>

function answered(shown: Shown): Result<ToolReply<Output>, Failure> {
  const output = { matches: null, missing: null, cut: false, ...shown }
  const notes = [
    ...(output.matches === null ? [] : [`Matching lines: ${output.matches}.`]),
    ...(output.missing === null
      ? []
      : [`Before this, the budget dropped ${countText(output.missing.bytes, "byte")}.`]),
    ...(output.cut
      ? ["Some of these lines are not shown: they did not fit, or are too far back."]
      : []),
    output.has_more
      ? `There is more: continue with from: ${JSON.stringify(output.next)}.`
      : output.ended
        ? "This is the end of the output."
        : `There is no more yet: continue later with from: ${JSON.stringify(output.next)}.`,
  ]
  return reply(notes.join(" "), output, output.text)
}
