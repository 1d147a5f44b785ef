import type { Tokens, TurnOutcome } from "../../execution/agent.ts"
import type { AgentSignal, QuestionAsked, TotalUsage, TurnEnd } from "../port.ts"
import { countOf, type Fields, fieldsOf, listOf, numberOf, textOf, timeOf } from "./fields.ts"

/**
 * What a message of Claude Code means for its session. Nothing is required of it: what is missing
 * or unknown means nothing, and the message itself is in the transcript as it came.
 */
export function signalsOf(message: Fields): AgentSignal[] {
  switch (message["type"]) {
    case "system":
      return systemSignals(message)
    case "assistant":
      return contentOf(message, "tool_use").flatMap((block) => {
        const toolId = textOf(block["id"])
        const tool = textOf(block["name"]) ?? "a tool"
        return toolId === null ? [] : [{ kind: "tool-started", toolId, tool }]
      })
    case "user":
      return contentOf(message, "tool_result").flatMap((block) => {
        const toolId = textOf(block["tool_use_id"])
        return toolId === null ? [] : [{ kind: "tool-ended", toolId }]
      })
    case "stream_event":
      return streamSignals(message)
    case "tool_progress": {
      const toolId = textOf(message["tool_use_id"])
      return toolId === null ? [] : [{ kind: "tool-progress", toolId }]
    }
    case "rate_limit_event":
      return limitSignals(fieldsOf(message["rate_limit_info"]))
    case "control_request":
      return questionSignals(message)
    case "control_cancel_request": {
      const requestId = textOf(message["request_id"])
      return requestId === null ? [] : [{ kind: "withdrawn", requestId }]
    }
    case "result":
      return [
        { kind: "cost", usage: totalUsageOf(message) },
        { kind: "turn-ended", ...turnEndOf(message) },
      ]
    default:
      return []
  }
}

function systemSignals(message: Fields): AgentSignal[] {
  switch (message["subtype"]) {
    case "init":
      return [
        {
          kind: "session",
          sessionId: textOf(message["session_id"]) ?? "",
          version: textOf(message["claude_code_version"]),
          model: textOf(message["model"]),
          permissionMode: textOf(message["permissionMode"]),
        },
      ]
    case "status": {
      const status = message["status"]
      if (status === "compacting") return [{ kind: "compacting", isOver: false }]
      const permissionMode = textOf(message["permissionMode"])
      if (permissionMode !== null) return [{ kind: "configured", model: null, permissionMode }]
      return status === "requesting" ? [{ kind: "thinking" }] : []
    }
    case "compact_boundary":
      return [{ kind: "compacting", isOver: true }]
    case "api_retry":
      return [
        {
          kind: "retrying",
          attempt: countOf(message["attempt"]) ?? 1,
          mostAttempts: countOf(message["max_retries"]) ?? 1,
          delayMs: countOf(message["retry_delay_ms"]) ?? 0,
          why: retryReason(message),
        },
      ]
    default:
      return []
  }
}

function retryReason(message: Fields): string {
  const status = numberOf(message["error_status"])
  const error = textOf(message["error"])?.slice(0, 200) ?? "an error"
  return status === null ? error : `${error}, status ${status}`
}

function streamSignals(message: Fields): AgentSignal[] {
  const event = fieldsOf(message["event"])
  const isSubagent = textOf(message["parent_tool_use_id"]) !== null
  switch (event["type"]) {
    case "message_start": {
      const usage = fieldsOf(fieldsOf(event["message"])["usage"])
      const tokens = { ...tokensOf(usage), output: 0 } // those are told at the end
      return [
        { kind: "response", isSubagent },
        { kind: "tokens", tokens },
      ]
    }
    case "message_delta": {
      const output = countOf(fieldsOf(event["usage"])["output_tokens"]) ?? 0
      return [{ kind: "tokens", tokens: { ...noTokens, output } }]
    }
    default:
      return [{ kind: "thinking" }]
  }
}

const noTokens: Tokens = { input: 0, output: 0, cache_read: 0, cache_creation: 0 }

function tokensOf(usage: Fields): Tokens {
  return {
    input: countOf(usage["input_tokens"]) ?? 0,
    output: countOf(usage["output_tokens"]) ?? 0,
    cache_read: countOf(usage["cache_read_input_tokens"]) ?? 0,
    cache_creation: countOf(usage["cache_creation_input_tokens"]) ?? 0,
  }
}

function limitSignals(info: Fields): AgentSignal[] {
  const type = textOf(info["rateLimitType"])
  const window = type === null ? {} : fieldsOf(fieldsOf(info["unifiedWindows"])[type])
  return [
    {
      kind: "limit",
      limit: {
        status: textOf(info["status"]) ?? "unknown",
        type,
        resets_at: timeOf(info["resetsAt"]),
        utilization: numberOf(info["utilization"]) ?? numberOf(window["utilization"]),
      },
    },
  ]
}

function questionSignals(message: Fields): AgentSignal[] {
  const requestId = textOf(message["request_id"])
  const request = fieldsOf(message["request"])
  const question = questionOf(request)
  return requestId === null || question === null ? [] : [{ kind: "question", requestId, question }]
}

/** Null for a request that nobody is to be asked about. */
function questionOf(request: Fields): QuestionAsked | null {
  const title = textOf(request["title"]) ?? textOf(request["display_name"])
  const common = {
    title,
    description: textOf(request["description"]) ?? textOf(request["message"]),
    suggestions: [...listOf(request["permission_suggestions"])],
    subagent: textOf(request["agent_id"]),
    defaults_to_no: request["default_to_no"] === true,
  }
  switch (request["subtype"]) {
    case "can_use_tool": {
      const tool = textOf(request["tool_name"])
      const kind = tool === "AskUserQuestion" ? "choice" : "permission"
      const needs_person = request["requires_user_interaction"] === true
      return { ...common, kind, tool, input: request["input"] ?? null, needs_person }
    }
    case "elicitation":
    case "request_user_dialog": {
      const { subtype: _, ...input } = request
      return { ...common, kind: "elicitation", tool: null, input, needs_person: true }
    }
    default:
      return null
  }
}

export function totalUsageOf(told: Fields): TotalUsage {
  const models = fieldsOf(told["modelUsage"] ?? told["model_usage"])
  const byModel: TotalUsage["byModel"] = {}
  let contextWindow: number | null = null
  for (const [model, value] of Object.entries(models)) {
    const usage = fieldsOf(value)
    byModel[model] = {
      input: countOf(usage["inputTokens"]) ?? 0,
      output: countOf(usage["outputTokens"]) ?? 0,
      cache_read: countOf(usage["cacheReadInputTokens"]) ?? 0,
      cache_creation: countOf(usage["cacheCreationInputTokens"]) ?? 0,
      cost_usd: numberOf(usage["costUSD"]) ?? 0,
    }
    contextWindow = Math.max(contextWindow ?? 0, countOf(usage["contextWindow"]) ?? 0)
  }
  return { costUsd: numberOf(told["total_cost_usd"]) ?? 0, byModel, contextWindow }
}

function turnEndOf(message: Fields): TurnEnd {
  const { outcome, mayContinue } = outcomeOf(message)
  const errors = listOf(message["errors"]).filter((error) => typeof error === "string")
  return {
    outcome,
    mayContinue,
    isAgentsOwn: false, // whoever has given it turns knows better
    result: textOf(message["result"]) ?? (errors.length === 0 ? null : errors.join("\n")),
    structuredOutput: message["structured_output"] ?? null,
    durationMs: numberOf(message["duration_ms"]),
  }
}

type OutcomeAndMore = { outcome: TurnOutcome; mayContinue: TurnEnd["mayContinue"] }

function outcomeOf(message: Fields): OutcomeAndMore {
  const subtype = textOf(message["subtype"]) ?? ""
  const reason = textOf(message["terminal_reason"]) ?? ""
  if (message["api_error"] === "usage_limit_reached") {
    return { outcome: "limit", mayContinue: "at-limit" }
  }
  if (subtype === "success" && message["is_error"] !== true) {
    return { outcome: "success", mayContinue: null }
  }
  if (reason.startsWith("aborted")) return { outcome: "interrupted", mayContinue: null }
  if (subtype === "error_max_turns") return { outcome: "max-turns", mayContinue: null }
  if (subtype === "error_max_budget_usd") return { outcome: "max-cost", mayContinue: null }
  const isOfApi = reason === "api_error" || reason === "model_error"
  const isPassing = isOfApi && passes(numberOf(message["api_error_status"]))
  return { outcome: "error", mayContinue: isPassing ? "later" : null }
}

/** Overload, a fault of the API's own, or no answer at all; what was wrong with a request stays. */
function passes(status: number | null): boolean {
  return status === null || status === 408 || status === 429 || status >= 500
}

function contentOf(message: Fields, type: string): Fields[] {
  const content = listOf(fieldsOf(message["message"])["content"])
  return content.map(fieldsOf).filter((block) => block["type"] === type)
}
