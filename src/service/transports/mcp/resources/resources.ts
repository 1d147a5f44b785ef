import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
  type ResourceTemplateType,
} from "@modelcontextprotocol/server"
import type { Result } from "../../../../lib/result.ts"
import { viewOf } from "../../../../protocol/execution-view.ts"
import { type Failure, wireError } from "../../../../protocol/failure.ts"
import { outcomeText, summarize } from "../execution-summary.ts"
import { readPage } from "../output/output-page.ts"
import type { McpScope } from "../ports.ts"
import { readReceipt } from "../tools/receipt.ts"
import { readResourceUri, resourceTemplates, resourceUri } from "./resource-uri.ts"

const listedAtOnce = 50
const pageBytes = 64 * 1024

export const templates: readonly ResourceTemplateType[] = [
  {
    name: "execution",
    title: "An execution",
    uriTemplate: resourceTemplates.state,
    description: "An execution's state: command, times, exit code, counts",
    mimeType: "application/json",
  },
  {
    name: "transcript",
    title: "An execution's output",
    uriTemplate: resourceTemplates.transcript,
    description:
      "An execution's output, page by page: `_meta` of a page has the address of the next one",
    mimeType: "text/plain",
  },
  {
    name: "receipt",
    title: "An execution's receipt",
    uriTemplate: resourceTemplates.receipt,
    description: "The signed receipt of an ended execution",
    mimeType: "application/json",
  },
]

/** The newest executions first; the rest by cursor. */
export async function listResources(
  { operations, caller }: McpScope,
  cursor: string | undefined,
): Promise<{ resources: Resource[]; nextCursor?: string }> {
  const page = await operations.list(caller, { limit: listedAtOnce, cursor })
  if (!page.ok) throw new RefusedRequest(page.failure)
  const resources = page.value.executions.map((view) => {
    const summary = summarize(view)
    return {
      uri: resourceUri("state", summary.execution_id),
      name: summary.command.slice(0, 100),
      description: `${summary.execution_id} ${outcomeText(summary)}`,
      mimeType: "application/json",
    }
  })
  const { cursor: nextCursor } = page.value
  return nextCursor === undefined ? { resources } : { resources, nextCursor }
}

export async function readResource(scope: McpScope, uri: string): Promise<ReadResourceResult> {
  const resource = readResourceUri(uri)
  if (resource === null) throw new ResourceNotFoundError(uri)
  const { operations, caller } = scope
  const { id, from } = resource
  switch (resource.kind) {
    case "state": {
      const record = found(uri, await operations.status(caller, id))
      return json(uri, viewOf(record))
    }
    case "receipt": {
      const signed = found(uri, await operations.receipt(caller, id))
      return json(uri, { receipt: readReceipt(signed), signed })
    }
    case "transcript": {
      // Its pages are all of the same execution, also where the name is another's by then.
      const { id: executionId } = found(uri, await operations.status(caller, id))
      const request = { executionId, from, stream: null, mostBytes: pageBytes }
      const page = found(uri, await readPage(scope, request))
      const next = page.ended
        ? {}
        : { "cc-executor/next": resourceUri("transcript", executionId, page.next) }
      const missing = page.gap === null ? {} : { "cc-executor/missing": page.gap }
      const _meta = { "cc-executor/ended": page.ended, ...next, ...missing }
      return { contents: [{ uri, mimeType: "text/plain", text: page.text, _meta }] }
    }
  }
}

function json(uri: string, value: unknown): ReadResourceResult {
  const text = JSON.stringify(value, null, 2)
  return { contents: [{ uri, mimeType: "application/json", text }] }
}

function found<Value>(uri: string, result: Result<Value, Failure>): Value {
  if (result.ok) return result.value
  if (result.failure.reason === "PROCESS_NOT_FOUND") throw new ResourceNotFoundError(uri)
  throw new RefusedRequest(result.failure)
}

/** A refusal as MCP tells it, and as the audit trail wants it. */
export class RefusedRequest extends ProtocolError {
  readonly failure: Failure

  constructor(refused: Failure) {
    const { message, data } = wireError(refused)
    const isOurs = refused.reason === "INTERNAL"
    const code = isOurs ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams
    super(code, `${refused.reason}: ${message}`, data)
    this.failure = refused
  }
}
