import type { Endpoint } from "./endpoint.ts"
import {
  getAgent,
  getAgentEvents,
  getInbox,
  postAgents,
  postAnswers,
  postConfigure,
  postEnd,
  postInterrupt,
  postTurns,
} from "./resources/agents.ts"
import { getEvents } from "./resources/events.ts"
import { deleteExecution, getExecution, postControl, postResize } from "./resources/execution.ts"
import { getExecutions, postExecutions } from "./resources/executions.ts"
import { postInput } from "./resources/input.ts"
import { getNotifications, postNotificationTest } from "./resources/notifications.ts"
import { getOutput } from "./resources/output.ts"
import { deleteSessions, postSessions } from "./resources/page-sessions.ts"
import {
  getHealth,
  getHealthz,
  getHistory,
  getMetrics,
  getOpenApi,
  getReadyz,
  postTickets,
} from "./resources/service-routes.ts"
import {
  getReceipt,
  getScreen,
  getSearch,
  getTranscript,
  postVerify,
} from "./resources/transcript.ts"
import {
  getTrial,
  getTrials,
  postTrialEnd,
  postTrialRenew,
  postTrials,
} from "./resources/trials.ts"
import { getChanges, postDrop, postTake } from "./resources/worktrees.ts"

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
  getScreen,
  getSearch,
  getReceipt,
  postVerify,
  postAgents,
  getAgent,
  postTurns,
  postAnswers,
  postInterrupt,
  postEnd,
  postConfigure,
  getChanges,
  postTake,
  postDrop,
  getAgentEvents,
  getInbox,
  postTrials,
  getTrials,
  getTrial,
  postTrialRenew,
  postTrialEnd,
  getEvents,
  getNotifications,
  postNotificationTest,
  postSessions,
  deleteSessions,
  postTickets,
  getOpenApi,
  getHealth,
  getHealthz,
  getReadyz,
  getMetrics,
  getHistory,
]
