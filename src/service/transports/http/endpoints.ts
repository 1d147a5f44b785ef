import type { Endpoint } from "./endpoint.ts"
import { getEvents } from "./resources/events.ts"
import { deleteExecution, getExecution, postControl, postResize } from "./resources/execution.ts"
import { getExecutions, postExecutions } from "./resources/executions.ts"
import { getHealth, getHealthz, getReadyz } from "./resources/health.ts"
import { postInput } from "./resources/input.ts"
import { getMetrics } from "./resources/metrics.ts"
import { getOpenApi } from "./resources/open-api.ts"
import { getOutput } from "./resources/output.ts"
import { postTickets } from "./resources/tickets.ts"
import { getReceipt, getTranscript, postVerify } from "./resources/transcript.ts"

/** Every route there is, in the order of the API document. */
export const endpoints: readonly Endpoint[] = [
  postExecutions,
  getExecutions,
  getExecution,
  deleteExecution,
  postControl,
  postInput,
  postResize,
  getOutput,
  getTranscript,
  getReceipt,
  postVerify,
  getEvents,
  postTickets,
  getOpenApi,
  getHealth,
  getHealthz,
  getReadyz,
  getMetrics,
]
