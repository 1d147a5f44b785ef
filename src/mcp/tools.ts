import type { Tool } from "./tool.ts"
import { inputTool } from "./tools/input.ts"
import { listTool } from "./tools/list.ts"
import { outputTool } from "./tools/output.ts"
import { receiptTool } from "./tools/receipt.ts"
import { runTool } from "./tools/run.ts"
import { startTool } from "./tools/start.ts"
import { cancelTool, pauseTool, resumeTool, signalTool } from "./tools/steer.ts"
import { verifyTool } from "./tools/verify.ts"
import { waitTool } from "./tools/wait.ts"

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
]
