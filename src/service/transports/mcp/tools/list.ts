import { z } from "zod"
import { StateKind } from "../../../../execution/state.ts"
import { Labels } from "../../../../protocol/execute.ts"
import { ExecutionSummary, exampleExecution, outcomeText, summarize } from "../execution-summary.ts"
import { reply, tool } from "./tool.ts"

export const listTool = tool({
  name: "list",
  title: "List executions",
  description:
    "Lists executions, newest first: what is running, what has ended and how. Use it to find an " +
    "execution whose execution_id you no longer know.",
  input: z.strictObject({
    state: StateKind.optional().describe("only those in this state"),
    labels: Labels.optional().describe("only those with all of these labels"),
    limit: z.int().min(1).max(100).default(20),
    cursor: z.string().max(64).optional().describe("from the previous answer, for the next page"),
  }),
  output: z.object({
    executions: z.array(ExecutionSummary),
    cursor: z.string().nullable().describe("for the next page; null on the last one"),
  }),
  examples: {
    input: { state: "running" },
    output: { executions: [exampleExecution], cursor: null },
    note: "There are no more.",
  },
  annotations: { readOnlyHint: true, idempotentHint: true },
  needs: () => ["read"],
  async answer(args, { operations, caller }) {
    const page = await operations.list(caller, args)
    if (!page.ok) return page
    const executions = page.value.executions.map(summarize)
    const cursor = page.value.cursor ?? null
    const lines = executions.map((execution) => {
      const command = execution.command.slice(0, 200)
      return `${execution.execution_id} ${outcomeText(execution)}: ${command}`
    })
    const more = `There are more: call \`list\` with cursor ${cursor}.`
    const all = lines.length === 0 ? "No executions found." : "There are no more."
    return reply(cursor === null ? all : more, { executions, cursor }, lines.join("\n"))
  },
})
