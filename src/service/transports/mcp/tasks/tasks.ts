import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server"
import { z } from "zod"
import { outcomeText, summaryOf } from "../execution-summary.ts"
import type { McpScope } from "../ports.ts"
import { RefusedRequest } from "../resources/resources.ts"
import { declaresTasks, tasksExtension } from "../tools/call.ts"
import { ran, ShownBytes } from "../tools/run.ts"
import { answerResult, failedCall, type TaskCreated } from "../tools/tool.ts"

/** A task is an execution: what is known of it is in the journal, and outlives any gateway. */

const pollIntervalMs = 1000

export const TaskParams = z.looseObject({ taskId: z.string() })

/** What a call is answered with instead of its result; the execution has been journaled by now. */
export function taskCreated(task: TaskCreated) {
  return { resultType: "task" as const, ...taskFields(task, "working") }
}

export async function getTask(scope: McpScope, ctx: ServerContext, taskId: string) {
  const task = await findTask(scope, ctx, taskId)
  const { state } = task.record
  if (state.kind !== "ended") return taskFields(task, "working")
  if (state.outcome.kind === "stopped" && state.outcome.cause === "client") {
    return taskFields(task, "cancelled")
  }
  const answer = await ran(scope, task.record, task.mostBytes)
  const result = answer.ok ? answerResult(answer.value) : failedCall(answer.failure)
  return { ...taskFields(task, "completed"), result }
}

export async function cancelTask(scope: McpScope, ctx: ServerContext, taskId: string) {
  const { id } = (await findTask(scope, ctx, taskId)).record
  const canceled = await scope.operations.control(scope.caller, id, { type: "CANCEL" })
  const isOver = !canceled.ok && canceled.failure.reason === "WRONG_STATE"
  if (!canceled.ok && !isOver) throw new RefusedRequest(canceled.failure)
  return {}
}

/** These tasks never ask for anything: there is nothing that an answer could be to. */
export async function updateTask(scope: McpScope, ctx: ServerContext, taskId: string) {
  await findTask(scope, ctx, taskId)
  return {}
}

async function findTask(
  { operations, caller }: McpScope,
  { mcpReq }: ServerContext,
  taskId: string,
): Promise<TaskFound> {
  if (!declaresTasks(mcpReq)) {
    const requiredCapabilities = { extensions: { [tasksExtension]: {} } }
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities })
  }
  const read = readTaskId(taskId)
  const mostBytes = ShownBytes.safeParse(read?.mostBytes)
  if (read !== null && mostBytes.success) {
    const found = await operations.status(caller, read.executionId)
    if (found.ok) return { record: found.value, mostBytes: mostBytes.data }
    if (found.failure.reason !== "PROCESS_NOT_FOUND") throw new RefusedRequest(found.failure)
  }
  const message = `Unknown task: ${JSON.stringify(taskId)}.`
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, message)
}

/** The execution, and how much of its output the task's result may show. */
type TaskFound = Omit<TaskCreated, "kind">

type Status = "working" | "completed" | "cancelled"

function taskFields({ record, mostBytes }: TaskFound, status: Status) {
  return {
    taskId: `${record.id}.${mostBytes}`,
    status,
    statusMessage: outcomeText(summaryOf(record)),
    createdAt: record.createdAt,
    lastUpdatedAt: record.endedAt ?? record.startedAt ?? record.createdAt,
    ttlMs: null, // as long as the service keeps its executions
    pollIntervalMs,
  }
}

/** Null for what never was the id of a task. */
export function readTaskId(taskId: string): { executionId: string; mostBytes: number } | null {
  const [, executionId, mostBytes] = /^([a-z2-7]{26})\.(\d{3,6})$/.exec(taskId) ?? []
  if (executionId === undefined) return null
  return { executionId, mostBytes: Number(mostBytes) }
}

/**
 * The SDK's server takes whatever answers a `tools/call` for a tool's result, and adds the fields
 * it misses in it. An answer that is a task goes past that.
 */
export class TaskAnsweringServer extends Server {
  protected override _wrapHandler(
    method: string,
    handler: Parameters<Server["_wrapHandler"]>[1],
  ): ReturnType<Server["_wrapHandler"]> {
    if (method !== "tools/call") return super._wrapHandler(method, handler)
    const checked = super._wrapHandler(method, async (request, ctx) => {
      const result = await handler(request, ctx)
      if (Task.safeParse(result).success) throw new TaskAnswer(result)
      return result
    })
    return async (request, ctx: ServerContext) => {
      try {
        return await checked(request, ctx)
      } catch (error) {
        if (error instanceof TaskAnswer) return error.task
        throw error
      }
    }
  }
}

const Task = z.looseObject({ resultType: z.literal("task") })

class TaskAnswer extends Error {
  readonly task: Record<string, unknown>

  /** It has no content yet; only the SDK's types want some. */
  constructor(result: Record<string, unknown>) {
    super("a task")
    const { content: _, ...task } = result
    this.task = task
  }
}
