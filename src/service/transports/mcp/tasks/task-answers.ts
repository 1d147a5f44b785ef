import { Server, type ServerContext } from "@modelcontextprotocol/server"
import { z } from "zod"
import type { ExecutionRecord } from "../../../../execution/record.ts"

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

/** An answer that is not there yet: an execution, which goes on and is asked for by its id. */
export type TaskCreated = { kind: "task"; record: ExecutionRecord; mostBytes: number }

/** The execution, and how much of its output the task's result may show. */
export function taskIdOf({ record, mostBytes }: Pick<TaskCreated, "record" | "mostBytes">): string {
  return `${record.id}.${mostBytes}`
}

/** Null for what never was the id of a task. */
export function readTaskId(taskId: string): { executionId: string; mostBytes: number } | null {
  const [, executionId, mostBytes] = /^([a-z2-7]{26})\.(\d{3,6})$/.exec(taskId) ?? []
  if (executionId === undefined) return null
  return { executionId, mostBytes: Number(mostBytes) }
}
