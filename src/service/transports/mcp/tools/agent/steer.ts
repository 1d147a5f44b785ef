import { z } from "zod"
import { agentMethods } from "../../../../../protocol/agent.ts"
import { reply, tool } from "../tool.ts"
import { exampleSession } from "./session-view.ts"
import { sessionId } from "./wait.ts"

const example = { execution_id: exampleSession.execution_id }
const Turn = agentMethods["agent.send"].params.shape
const Answer = agentMethods["agent.answer"].params.shape

export const agentSendTool = tool({
  name: "agent_send",
  title: "Send a turn to an agent's session",
  description:
    "Tells an agent's session what to do next, in words. It does so after the turns before it; " +
    "with when `now`, the turn under way is interrupted first. Then call `agent_wait`. For the " +
    "standard input of a command, use `input`.",
  input: z.strictObject({
    execution_id: sessionId,
    text: z.string().min(1).max(8_388_608).describe("what the agent is told"),
    when: Turn.when,
    turn_id: Turn.turn_id.describe("a random name: calls with the same one send it only once"),
  }),
  output: z.object({ execution_id: z.string(), turn_id: z.string() }),
  examples: {
    input: { ...example, text: "Now write a test for it." },
    output: { ...example, turn_id: "0f5c8e0e-3c53-4d57-9a53-8f4a1f1d6a55" },
    note: "The turn is on record. Now call `agent_wait` …",
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  needs: () => ["execute"],
  async answer({ execution_id, ...turn }, { operations, caller }, { idempotencyKey }) {
    const turn_id = turn.turn_id ?? idempotencyKey?.slice(0, 128)
    const sent = await operations.agents.send(caller, { execution_id, ...turn, turn_id })
    if (!sent.ok) return sent
    const text = "The turn is on record. Now call `agent_wait` until its state is not `working`."
    return reply(text, { execution_id, turn_id: sent.value.turn_id })
  },
})

export const agentAnswerTool = tool({
  name: "agent_answer",
  title: "Answer an agent's question",
  description:
    "Answers a question that an agent's session asks, as `agent_wait` shows it with its input " +
    "and how to answer it. Look at the exact input before you allow anything: it is run as it " +
    "is. The first answer counts. Then call `agent_wait`.",
  input: z.strictObject({
    execution_id: sessionId,
    question_id: Answer.question_id.describe("from `agent_wait`, such as q1"),
    behavior: Answer.behavior,
    updated_input: Answer.updated_input.describe(
      "with `allow`: what to use the tool with instead, all of it",
    ),
    message: Answer.message.describe("with `deny`: why, and what to do instead"),
    remember: Answer.remember.describe("with `allow`: do not ask for the like of it again"),
  }),
  output: z.object({
    execution_id: z.string(),
    question_id: z.string(),
    behavior: Answer.behavior,
  }),
  examples: {
    input: { ...example, question_id: "q1", behavior: "allow" },
    output: { ...example, question_id: "q1", behavior: "allow" },
    note: "Answered. Now call `agent_wait` …",
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  needs: () => ["control"],
  async answer(args, { operations, caller }) {
    const answered = await operations.agents.answer(caller, args)
    if (!answered.ok) return answered
    const { execution_id, question_id, behavior } = args
    const text = "Answered. Now call `agent_wait` until its state is not `working`."
    return reply(text, { execution_id, question_id, behavior })
  },
})

export const agentInterruptTool = tool({
  name: "agent_interrupt",
  title: "Interrupt an agent's turn",
  description:
    "Ends the turn that an agent's session is at, with the tools it runs. The session stays, and " +
    "takes further turns with `agent_send`. To end the session itself, use `cancel`.",
  input: z.strictObject({ execution_id: sessionId }),
  output: z.object({ execution_id: z.string() }),
  examples: {
    input: example,
    output: example,
    note: "The turn is being interrupted. `agent_wait` tells when it has ended.",
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  needs: () => ["control"],
  async answer({ execution_id }, { operations, caller }) {
    const done = await operations.agents.interrupt(caller, { execution_id })
    if (!done.ok) return done
    const text = "The turn is being interrupted. `agent_wait` tells when it has ended."
    return reply(text, { execution_id })
  },
})
