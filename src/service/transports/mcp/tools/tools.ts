import { agentStartTool } from "./agent/start.ts"
import { agentAnswerTool, agentInterruptTool, agentSendTool } from "./agent/steer.ts"
import { agentStatusTool, agentWaitTool } from "./agent/wait.ts"
import { inputTool } from "./input.ts"
import { listTool } from "./list.ts"
import { outputTool } from "./output.ts"
import { receiptTool } from "./receipt.ts"
import { runTool } from "./run.ts"
import { startTool } from "./start.ts"
import { cancelTool, pauseTool, resumeTool, signalTool } from "./steer.ts"
import type { Tool } from "./tool.ts"
import { verifyTool } from "./verify.ts"
import { waitTool } from "./wait.ts"
import { reviewSubmitTool } from "./work/review-submit.ts"
import { workRunTool } from "./work/run.ts"
import { workStatusTool } from "./work/status.ts"
import { workVerifyTool } from "./work/verify.ts"

/** Every tool there is, in the order a model reads them. */
export const tools: readonly Tool[] = [
  startTool,
  waitTool,
  outputTool,
  runTool,
  listTool,
  inputTool,
  pauseTool,
  resumeTool,
  cancelTool,
  signalTool,
  verifyTool,
  receiptTool,
  agentStartTool,
  agentWaitTool,
  agentAnswerTool,
  agentSendTool,
  agentInterruptTool,
  agentStatusTool,
  workRunTool,
  workStatusTool,
  workVerifyTool,
  reviewSubmitTool,
]
