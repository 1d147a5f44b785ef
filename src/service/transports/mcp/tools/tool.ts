import type {
  CallToolResult,
  Tool as ListedTool,
  ToolAnnotations,
} from "@modelcontextprotocol/server"
import { z } from "zod"
import type { ExecutionRecord } from "../../../../execution/record.ts"
import type { Scope } from "../../../../execution/scope.ts"
import { fail, ok, type Result } from "../../../../lib/result.ts"
import { checkParams, invalidParams, issuesText } from "../../../../protocol/check-params.ts"
import { type Failure, type Reason, wireError } from "../../../../protocol/failure.ts"
import { permit } from "../../../access/permission.ts"
import type { McpScope } from "../ports.ts"
import type { Call } from "./call.ts"

export type Tool = {
  readonly name: string
  /** As clients are told of it: made when somebody first asks, for it takes milliseconds. */
  listed(): ListedTool
  call(args: unknown, scope: McpScope, call: Call): Promise<ToolAnswer>
}

export type ToolAnswer = Result<ToolReply<Record<string, unknown>> | TaskCreated, Failure>

/** An answer that is not there yet: an execution, which goes on and is asked for by its id. */
export type TaskCreated = { kind: "task"; record: ExecutionRecord; mostBytes: number }

const note = z.string().describe("what this means, and what to do next")

type Shape = Readonly<Record<string, z.ZodType>>

/** Strict: a misspelt name is told, not passed over. */
type Input = z.ZodObject<Shape, z.core.$strict>

type Definition<Arguments extends Input, Output extends z.ZodObject<Shape>> = {
  name: string
  title: string
  description: string
  input: Arguments
  output: Output
  examples: { input: z.input<Arguments>; output: z.input<Output>; note: string }
  annotations: ToolAnnotations
  /** All that any of its steps needs: asked before the first one. */
  needs(args: z.output<Arguments>): readonly Scope[]
  answer(
    args: z.output<Arguments>,
    scope: McpScope,
    call: Call,
  ): Promise<Result<ToolReply<z.input<Output>> | TaskCreated, Failure>>
}

/** What a tool answers with; `structured` fits its output schema, which has the body too. */
export type ToolReply<Output> = { kind: "reply"; note: string; body: string; structured: Output }

export function reply<Output>(
  noted: string,
  structured: Output,
  body = "",
): Result<ToolReply<Output>, never> {
  return ok({ kind: "reply", note: noted, body, structured })
}

export function tool<const Arguments extends Input, const Output extends z.ZodObject<Shape>>(
  definition: Definition<Arguments, Output>,
): Tool {
  const { name, title, description, input, output, examples, annotations } = definition
  const noted = { ...examples.output, note: examples.note }
  let listed: ListedTool | null = null
  return {
    name,
    listed: () =>
      (listed ??= {
        name,
        title,
        description,
        inputSchema: jsonSchema(input, "input", examples.input),
        outputSchema: jsonSchema(output.extend({ note }), "output", noted),
        annotations: { title, openWorldHint: false, ...annotations },
      }),
    async call(args, scope, call) {
      const params = checkParams(input, args ?? {})
      if (!params.ok) return fail(invalidArguments(name, params.failure, scope))
      const permitted = permit(scope.caller, ...definition.needs(params.value))
      if (!permitted.ok) return permitted
      const answer = await definition.answer(params.value, scope, call)
      if (!answer.ok || answer.value.kind === "task") return answer
      return ok({ ...answer.value, structured: output.parse(answer.value.structured) })
    },
  }
}

function invalidArguments(
  name: string,
  issues: readonly z.core.$ZodIssue[],
  { operations }: McpScope,
): Failure {
  const message = `Invalid arguments for ${name}: ${issuesText(issues)}.`
  return invalidParams(message, issues, operations.policy)
}

/**
 * The same answer twice: in words, and by the schema. Some clients show a model only the one, some
 * only the other: what is important is in both.
 */
export function answerResult(answer: ToolReply<Record<string, unknown>>) {
  const text = answer.body === "" ? answer.note : `${answer.note}\n\n${answer.body}`
  return {
    content: [{ type: "text" as const, text }],
    structuredContent: { ...answer.structured, note: answer.note },
  } satisfies CallToolResult
}

/** What can go wrong is an answer too: a model can read it, and do something about it. */
export function failedCall(refused: Failure): CallToolResult {
  const { reason, message } = refused
  return {
    isError: true,
    content: [{ type: "text", text: `${reason}: ${message} ${adviceFor(refused)}` }],
    _meta: { "cc-executor/error": wireError(refused) },
  }
}

/** What a model can do about a refusal, after it has been told what happened. */
function adviceFor({ reason, details }: Failure): string {
  if (details?.["done"] !== undefined) return adviceAfterDeed
  const retryAfter = details?.["retry_after"]
  const wait = typeof retryAfter === "number" ? `Wait ${Math.ceil(retryAfter)} s` : "Wait"
  return { ...advice, RATE_LIMITED: `${wait}, then call again.` }[reason]
}

const adviceAfterDeed = "Do not repeat this: use `wait` or `list` to see what became of it."

const advice: Record<Reason, string> = {
  PARSE_ERROR: "Send the call again as valid JSON.",
  INVALID_REQUEST: "Correct the call, and send it again.",
  METHOD_NOT_FOUND: "List the tools to see what is available.",
  INVALID_PARAMS: "Correct the arguments according to the tool's schema, and call again.",
  INTERNAL: "Call again; if it fails again, tell the user to look at the service's log.",
  SECURITY_DENIED:
    "Do not try to get around it: choose a command that is allowed, or ask the user to allow it.",
  SESSION_LIMIT: "Close a connection that is not needed, or try again later.",
  PROCESS_NOT_FOUND: "Call `list` to see the existing executions.",
  STREAM_TIMEOUT: "Reconnect: executions continue in the meantime.",
  RATE_LIMITED: "Wait, then call again.",
  AT_CAPACITY: "Wait until an execution has ended, or cancel one that is not needed.",
  UNAUTHORIZED: "Ask the user for a valid token.",
  FORBIDDEN: "Ask the user for a token that allows this.",
  WRONG_STATE: "Call `wait` to see what state it is in.",
  TRIAL_NOT_FOUND: "Check the trial's id.",
  NOT_ANNOUNCED: "Start the steps of a trial as they were announced, in that order.",
  SPAWN_FAILED: "Check the program's name and the directory, and start it again.",
  EXPIRED: "It is no longer available: run the command again if you need its output.",
  IDEMPOTENCY_MISMATCH: "Use another idempotency_key, or repeat the first request exactly.",
  DISK_FULL: "Ask the user to free disk space where the service keeps its state.",
  NAME_IN_USE: "Choose another `name`, or `wait` for or `cancel` the one that has it.",
  SHUTTING_DOWN: "Wait until the service has restarted, then call again.",
  ALREADY_ANSWERED: "It was answered before: call `agent_wait` to see what it does now.",
  SESSION_BUSY:
    "Use the execution that has the session, or pass `take_over` to end that one first.",
  FLEET_UNAVAILABLE: "Wait, then call again; what runs goes on meanwhile.",
  GIT_REFUSED: "Do what the message says, or start the session without `worktree`.",
  OUTCOME_UNKNOWN: "Repeat the call with the same turn_id: it is done once.",
}

function jsonSchema(schema: z.ZodType, io: "input" | "output", example: unknown) {
  const made = z.toJSONSchema(schema, {
    io,
    target: "draft-2020-12",
    override: ({ jsonSchema: part }) => shorten(part),
  })
  const { $schema: _, ...rest } = made
  return ObjectSchema.parse({ ...rest, examples: [example] })
}

const ObjectSchema = z.looseObject({
  type: z.literal("object"),
  properties: z.record(z.string(), z.json()),
})

/** Every model reads these before it does anything: what says nothing to it is left out. */
function shorten(part: z.core.JSONSchema.BaseSchema): void {
  if (part.maximum === Number.MAX_SAFE_INTEGER) delete part.maximum
  if (part.minimum === Number.MIN_SAFE_INTEGER) delete part.minimum
  if (part.minLength === 1) delete part.minLength
  delete part.maxLength
  delete part.propertyNames
  delete part.maxItems
  if (part.format === "date-time") delete part.pattern
}

export const executionId = z
  .string()
  .min(1)
  .max(256)
  .describe("from `start` or `list`; a unique prefix or the execution's name will do")
