import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server"
import { z } from "zod"
import type { ExecutionRecord } from "../execution/record.ts"
import { viewOf } from "../protocol/execution-view.ts"
import { declaresTasks, tasksExtension } from "./call.ts"
import type { McpScope } from "./ports.ts"
import { refusedRead } from "./resources.ts"
import { taskLabel } from "./task.ts"
import { happenedTo, toldExecution } from "./told-execution.ts"
import { answerOf, answerResult, failedCall } from "./tool.ts"
import { ran, shownBytes } from "./tools/run.ts"

/** A task is an execution: what is known of it is in the journal, and outlives any gateway. */

const pollIntervalMs = 1000

export const TaskParams = z.looseObject({ taskId: z.string() })

/** What a call is answered with instead of its result; the execution has been journaled by now. */
export function taskCreated(record: ExecutionRecord) {
  return { resultType: "task" as const, ...taskFields(record, "working") }
}

export async function getTask(scope: McpScope, ctx: ServerContext, taskId: string) {
  const record = await findTask(scope, ctx, taskId)
  const { state } = record
  if (state.kind !== "ended") return taskFields(record, "working")
  if (state.outcome.kind === "stopped" && state.outcome.cause === "client") {
    return taskFields(record, "cancelled")
  }
  const answer = await ran(scope, record, shownBytes(record.spec.labels[taskLabel]))
  const result = answer.ok ? answerResult(answerOf(answer.value)) : failedCall(answer.failure)
  return { ...taskFields(record, "completed"), result }
}

export async function cancelTask(scope: McpScope, ctx: ServerContext, taskId: string) {
  const { id } = await findTask(scope, ctx, taskId)
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
): Promise<ExecutionRecord> {
  if (!declaresTasks(mcpReq)) {
    const requiredCapabilities = { extensions: { [tasksExtension]: {} } }
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities })
  }
  const found = await operations.status(caller, taskId)
  if (!found.ok && found.failure.reason !== "PROCESS_NOT_FOUND") throw refusedRead(found.failure)
  const isTask = found.ok && found.value.id === taskId && taskLabel in found.value.spec.labels
  if (isTask) return found.value
  const message = `There is no task ${JSON.stringify(taskId)}.`
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, message)
}

type Status = "working" | "completed" | "cancelled"

function taskFields(record: ExecutionRecord, status: Status) {
  return {
    taskId: record.id,
    status,
    statusMessage: happenedTo(toldExecution(viewOf(record))),
    createdAt: record.createdAt,
    lastUpdatedAt: record.endedAt ?? record.startedAt ?? record.createdAt,
    ttlMs: null, // as long as the service keeps its executions
    pollIntervalMs,
  }
}
