import type { MethodName } from "../../../protocol/methods.ts"
import { type Answer, plain, taking } from "./method-answer.ts"

export const agentAnswers: Record<Extract<MethodName, `agent.${string}`>, Answer<unknown>> = {
  "agent.start": taking("agent.start", async ({ operations, caller }, params) =>
    plain(await operations.agents.start(caller, params)),
  ),
  "agent.send": taking("agent.send", async ({ operations, caller }, params) =>
    plain(await operations.agents.send(caller, params)),
  ),
  "agent.answer": taking("agent.answer", async ({ operations, caller }, params) =>
    plain(await operations.agents.answer(caller, params)),
  ),
  "agent.interrupt": taking("agent.interrupt", async ({ operations, caller }, params) =>
    plain(await operations.agents.interrupt(caller, params)),
  ),
  "agent.end": taking("agent.end", async ({ operations, caller }, params) =>
    plain(await operations.agents.end(caller, params)),
  ),
  "agent.configure": taking("agent.configure", async ({ operations, caller }, params) =>
    plain(await operations.agents.configure(caller, params)),
  ),
  "agent.status": taking("agent.status", async ({ operations, caller }, params) =>
    plain(await operations.agents.status(caller, params)),
  ),
  "agent.inbox": taking("agent.inbox", async ({ operations, caller }, params) =>
    plain(await operations.agents.inbox(caller, params)),
  ),
  "agent.changes": taking("agent.changes", async ({ operations, caller }, params) =>
    plain(await operations.agents.changes(caller, params)),
  ),
  "agent.take": taking("agent.take", async ({ operations, caller }, params) =>
    plain(await operations.agents.take(caller, params)),
  ),
  "agent.drop": taking("agent.drop", async ({ operations, caller }, params) =>
    plain(await operations.agents.drop(caller, params)),
  ),
}

export const trialAnswers: Record<Extract<MethodName, `trial.${string}`>, Answer<unknown>> = {
  "trial.begin": taking("trial.begin", async ({ operations, caller }, params) =>
    plain(await operations.trials.begin(caller, params)),
  ),
  "trial.renew": taking("trial.renew", async ({ operations, caller }, params) =>
    plain(await operations.trials.renew(caller, params)),
  ),
  "trial.end": taking("trial.end", async ({ operations, caller }, params) =>
    plain(await operations.trials.end(caller, params)),
  ),
  "trial.status": taking("trial.status", async ({ operations, caller }, params) =>
    plain(await operations.trials.status(caller, params)),
  ),
  "trial.list": taking("trial.list", async ({ operations, caller }, params) =>
    plain(await operations.trials.list(caller, params)),
  ),
}

export const notifyAnswers: Record<Extract<MethodName, `notify.${string}`>, Answer<unknown>> = {
  "notify.list": taking("notify.list", async ({ operations, caller }, params) =>
    plain(await operations.notify.list(caller, params)),
  ),
  "notify.test": taking("notify.test", async ({ operations, caller }, params) =>
    plain(await operations.notify.test(caller, params)),
  ),
}

export const nodeAnswers: Record<Extract<MethodName, `node.${string}`>, Answer<unknown>> = {
  "node.list": taking("node.list", async ({ operations, caller }, params) =>
    plain(await operations.nodes.list(caller, params)),
  ),
  "node.drain": taking("node.drain", async ({ operations, caller }, params) =>
    plain(await operations.nodes.drain(caller, params)),
  ),
  "node.undrain": taking("node.undrain", async ({ operations, caller }, params) =>
    plain(await operations.nodes.undrain(caller, params)),
  ),
  "node.forget": taking("node.forget", async ({ operations, caller }, params) =>
    plain(await operations.nodes.forget(caller, params)),
  ),
}
