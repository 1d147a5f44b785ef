import {
  type CallToolRequest,
  type CallToolResult,
  type CompleteRequest,
  type CompleteResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server"
import { fail } from "../../../lib/result.ts"
import { executionAskedAbout } from "../../../protocol/audit-message.ts"
import { internalFailure } from "../../../protocol/failed-after.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import { permit } from "../../access/permission.ts"
import { auditingRefusals, auditRefusal } from "./audit-refusal.ts"
import type { McpScope } from "./ports.ts"
import { getPrompt, prompts } from "./prompts.ts"
import { readResourceUri } from "./resources/resource-uri.ts"
import { listResources, RefusedRequest, readResource, templates } from "./resources/resources.ts"
import {
  cancelTask,
  getTask,
  readTaskId,
  TaskAnsweringServer,
  TaskParams,
  taskCreated,
  updateTask,
} from "./tasks/tasks.ts"
import { callOf, tasksExtension } from "./tools/call.ts"
import { answerResult, failedCall, type ToolAnswer } from "./tools/tool.ts"
import { tools } from "./tools/tools.ts"

/** What a model is told about this server before it uses it. */
const instructions = `\
cc-executor runs commands that may take seconds or hours, and loses nothing of them.

How to use it:
1. \`start\` a command: it answers at once with an execution_id.
2. \`wait\` with that id until \`ended\` is true. Each call waits at most 45 seconds and shows the
   newest output; "still running" is not an error: call it again.
3. \`output\` reads what it wrote: page by page, the last lines, or the lines that match a pattern.
For something short, \`run\` does all three in one call.

To hand a task to another agent: \`agent_start\` with the task, \`agent_wait\` until its state is
not \`working\`, \`agent_answer\` what it asks, \`agent_send\` for the next turn. What it reports
is a claim: \`verify\` with \`executed\` says whether a tool really wrote it.

To work off a Markdown file of tasks, or try a prompt: \`work_run\`, \`wait\`, \`work_status\`. A
box is ticked only by a check that was seen to fail and then to pass: never tick one yourself, and
\`work_verify\` before you report that tasks are done.

An execution belongs to nobody's connection: it goes on when a call is cut off, when you are
disconnected, and when the client is restarted. \`list\` finds it again. Only \`cancel\` ends it, or
a timeout that was set for it. \`succeeded\` is true for exit code 0 and nothing else; before you
report that something passed, \`verify\` it against the record.`

export type McpEra = "legacy" | "modern"

export type McpServerOptions = {
  era: McpEra
  /** Whether it can tell of changes: over legacy HTTP there is no way to. */
  tellsUpdates: boolean
  /** Adds what only a test needs, after everything else was set up. */
  extend?: ((server: Server, era: McpEra) => void) | undefined
}

/** An MCP server for one caller: for a connection, or for a single request over HTTP. */
export function createMcpServer(scope: McpScope, options: McpServerOptions): Server {
  const { era, tellsUpdates, extend } = options
  const takesTasks = era === "modern"
  const server = new TaskAnsweringServer(
    { name: "cc-executor", title: "cc-executor", version: scope.version },
    {
      instructions,
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: false, subscribe: tellsUpdates },
        prompts: { listChanged: false },
        completions: {},
        ...(takesTasks ? { extensions: { [tasksExtension]: {} } } : {}),
      },
    },
  )
  server.setRequestHandler("tools/list", () => ({ tools: tools.map((tool) => tool.listed()) }))
  server.setRequestHandler("tools/call", (request, ctx) => callTool(scope, request, ctx))
  server.setRequestHandler("resources/list", ({ method, params }) =>
    auditingRefusals(scope, method, undefined, () => listResources(scope, params?.cursor)),
  )
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [...templates],
  }))
  server.setRequestHandler("resources/read", ({ method, params: { uri } }) =>
    auditingRefusals(scope, method, readResourceUri(uri)?.id, () => readResource(scope, uri)),
  )
  server.setRequestHandler("prompts/list", () => ({ prompts: [...prompts] }))
  server.setRequestHandler("prompts/get", ({ params }) => getPrompt(params.name, params.arguments))
  server.setRequestHandler("completion/complete", ({ method, params }) =>
    auditingRefusals(scope, method, undefined, () => complete(scope, params)),
  )
  if (takesTasks) handleTasks(server, scope)
  extend?.(server, era)
  return server
}

async function callTool(
  scope: McpScope,
  { params }: CallToolRequest,
  ctx: ServerContext,
): Promise<CallToolResult> {
  const tool = tools.find(({ name }) => name === params.name)
  if (tool === undefined) {
    const message = `Unknown tool: ${JSON.stringify(params.name.slice(0, 100))}.`
    noteRefusedCall(scope, "unknown", params.arguments, failure("METHOD_NOT_FOUND", message))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message)
  }
  const call = callOf(ctx)
  const answer = call.ok
    ? await answered(scope, () => tool.call(params.arguments, scope, call.value))
    : call
  if (answer.ok) {
    return answer.value.kind === "task"
      ? { content: [], ...taskCreated(answer.value) }
      : answerResult(answer.value)
  }
  noteRefusedCall(scope, params.name, params.arguments, answer.failure)
  return failedCall(answer.failure)
}

/** A bug in one tool is told to whoever called it; the log has the rest. */
async function answered(scope: McpScope, call: () => Promise<ToolAnswer>): Promise<ToolAnswer> {
  try {
    return await call()
  } catch (error) {
    scope.log.error({ err: error }, "mcp tool failed")
    const message = "The service failed to handle this call. Its log says why."
    return fail(internalFailure(message, error))
  }
}

function noteRefusedCall(scope: McpScope, method: string, args: unknown, refused: Failure): void {
  auditRefusal(scope, method, refused, executionAskedAbout(args, refused))
}

/** By the names of the extension; the SDK has none of them in this era. */
function handleTasks(server: Server, scope: McpScope): void {
  const schemas = { params: TaskParams }
  for (const [method, answer] of Object.entries(taskMethods)) {
    server.setRequestHandler(method, schemas, ({ taskId }, ctx) =>
      auditingRefusals(scope, method, readTaskId(taskId)?.executionId, () =>
        answer(scope, ctx, taskId),
      ),
    )
  }
}

const taskMethods = { "tasks/get": getTask, "tasks/cancel": cancelTask, "tasks/update": updateTask }

const mostSuggested = 100

/** Which arguments are the id of an execution, by prompt and by template alike. */
const ids: ReadonlySet<string> = new Set(["id", "execution_id"])

/** Suggests the newest executions whose id begins as given. */
async function complete(
  { operations, caller }: McpScope,
  { argument }: CompleteRequest["params"],
): Promise<CompleteResult> {
  const permitted = permit(caller, "read")
  if (!permitted.ok) throw new RefusedRequest(permitted.failure)
  if (!ids.has(argument.name)) return { completion: { values: [], total: 0, hasMore: false } }
  const page = await operations.list(caller, { limit: mostSuggested })
  if (!page.ok) throw new RefusedRequest(page.failure)
  const values = page.value.executions
    .map(({ execution_id }) => execution_id)
    .filter((id) => id.startsWith(argument.value))
  const hasMore = page.value.cursor !== undefined
  return { completion: { values, hasMore } }
}
