import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server"
import { z } from "zod"
import { viewOf } from "../../../../protocol/execution-view.ts"
import { outcomeText, summarize } from "../execution-summary.ts"
import type { McpScope } from "../ports.ts"
import { refusedRead } from "../resources/resources.ts"
import { declaresTasks, tasksExtension } from "../tools/call.ts"
import { ran, ShownBytes } from "../tools/run.ts"
import { answerOf, answerResult, failedCall } from "../tools/tool.ts"
import { readTaskId, type TaskCreated, taskIdOf } from "./task-answers.ts"

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
  const result = answer.ok ? answerResult(answerOf(answer.value)) : failedCall(answer.failure)
  return { ...taskFields(task, "completed"), result }
}

export async function cancelTask(scope: McpScope, ctx: ServerContext, taskId: string) {
  const { id } = (await findTask(scope, ctx, taskId)).record
  const canceled = await scope.operations.control(scope.caller, id, { type: "CANCEL" })
  const isOver = !canceled.ok && canceled.failure.reason === "WRONG_STATE"
  if (!canceled.ok && !isOver) throw refusedRead(canceled.failure)
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
    if (found.failure.reason !== "PROCESS_NOT_FOUND") throw refusedRead(found.failure)
  }
  const message = `Unknown task: ${JSON.stringify(taskId)}.`
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, message)
}

type TaskFound = Omit<TaskCreated, "kind">

type Status = "working" | "completed" | "cancelled"

function taskFields({ record, mostBytes }: TaskFound, status: Status) {
  return {
    taskId: taskIdOf({ record, mostBytes }),
    status,
    statusMessage: outcomeText(summarize(viewOf(record))),
    createdAt: record.createdAt,
    lastUpdatedAt: record.endedAt ?? record.startedAt ?? record.createdAt,
    ttlMs: null, // as long as the service keeps its executions
    pollIntervalMs,
  }
}
