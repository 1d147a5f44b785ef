import { hasEnded } from "../../../execution/record.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import { isKeeperMethod, type KeeperResult, keeperMethods } from "../../../protocol/ipc.ts"
import type { TrialBegun } from "../../../protocol/trial.ts"
import type { SessionRestarts } from "../agents/session-restarts.ts"
import type { Worktrees } from "../agents/worktrees.ts"
import type { AuditedKeeper } from "../audit/audited-keeper.ts"
import type { Keeper } from "../keeper.ts"
import type { Deliveries } from "../notifications/deliveries.ts"
import type { Clock } from "../ports.ts"
import type { KeeperMetrics } from "../reports/keeper-metrics.ts"
import type { KeeperReport } from "../reports/keeper-report.ts"
import type { Trials } from "../trials/trials.ts"
import type { GatewayUpdates } from "./gateway-updates.ts"

type Outcome = Result<unknown, Failure>

export type Answerers = {
  keeper: Keeper
  audited: AuditedKeeper
  restarts: SessionRestarts
  worktrees: Worktrees
  trials: Pick<Trials, "begin" | "renew" | "end">
  deliveries: Pick<Deliveries, "test" | "report" | "sync">
  updates: GatewayUpdates
  metrics: KeeperMetrics
  report: KeeperReport
  clock: Pick<Clock, "monotonicMs">
}

/**
 * Answers what the gateway asks. `start` answers in the same turn, so that its answer is on its way
 * before any update of the execution it made.
 */
export function answerRequest(
  method: string,
  params: unknown,
  answerers: Answerers,
): Outcome | Promise<Outcome> {
  if (!isKeeperMethod(method)) {
    return fail(failure("INTERNAL", `The keeper has no method ${method}.`))
  }
  const { keeper, audited, restarts, trials, deliveries, worktrees } = answerers
  const { updates, metrics, report, clock } = answerers
  const askedMs = clock.monotonicMs()
  switch (method) {
    case "start": {
      const asked = keeperMethods.start.params.parse(params)
      const { origin, peer, exempt, request, follow, agent, goesOnWith, worktreeOf } = asked
      const before = goesOnWith === undefined ? null : restarts.predecessor(goesOnWith)
      const answered = (started: Result<KeeperResult<"start">, Failure>) => {
        // What was found again may be unfollowed at this very moment, by its readers of before:
        // only a `follow` of its own tells which of the two comes last.
        if (!started.ok || started.value.repeated) return started
        const { record } = started.value
        if (before !== null) restarts.linked(record)
        if (record.state.kind !== "queued") metrics.startAnswered(askedMs)
        if (follow && !hasEnded(record)) updates.follow(record.id)
        return started
      }
      const name = agent?.worktree
      if (name !== undefined) return worktrees.start(asked, name).then(answered)
      const workplace = worktreeOf === undefined ? null : worktrees.workplaceOf(worktreeOf)
      const started = audited.start(origin, exempt, request, follow, agent, before, workplace, peer)
      return answered(started)
    }
    case "worktree":
      return worktrees.ask(keeperMethods.worktree.params.parse(params))
    case "restart":
      return restarts.restart(keeperMethods.restart.params.parse(params))
    case "control": {
      const order = keeperMethods.control.params.parse(params)
      return audited.control(order).then((outcome) => {
        if (outcome.ok) metrics.obeyed(order.type, askedMs)
        return outcome
      })
    }
    case "input":
      return audited.input(keeperMethods.input.params.parse(params))
    case "answerQueries": {
      const { executionId, answers } = keeperMethods.answerQueries.params.parse(params)
      const input = keeper.live.find(executionId)?.input
      // Nobody waits: a program that has ended, or reads nothing, needs no answer.
      for (const answer of answers) void input?.answer(answer)
      return ok({})
    }
    case "order":
      return audited.order(keeperMethods.order.params.parse(params))
    case "resize":
      return keeper.resize(keeperMethods.resize.params.parse(params))
    case "remove":
      return audited.remove(keeperMethods.remove.params.parse(params))
    case "beginTrial": {
      const asked = keeperMethods.beginTrial.params.parse(params)
      const { name: work } = asked.request.work
      const factsOf = (begun: TrialBegun | null) =>
        begun === null ? { work } : { trial: begun.trial, work, sequence: begun.sequence }
      return audited.ofTrial(asked.origin, "trial.begin", factsOf, trials.begin(asked))
    }
    case "renewTrial": {
      const asked = keeperMethods.renewTrial.params.parse(params)
      const { origin, trial } = asked
      return audited.ofTrial(origin, "trial.renew", () => ({ trial }), trials.renew(asked))
    }
    case "endTrial": {
      const asked = keeperMethods.endTrial.params.parse(params)
      const { origin, trial } = asked
      return audited.ofTrial(origin, "trial.end", () => ({ trial }), trials.end(asked))
    }
    case "testTarget":
      return deliveries.test(keeperMethods.testTarget.params.parse(params))
    case "reportAttempts":
      return deliveries.report(keeperMethods.reportAttempts.params.parse(params).reports)
    case "syncOutbox":
      return deliveries.sync()
    case "audit":
      audited.refusedElsewhere(keeperMethods.audit.params.parse(params).refusals)
      return ok({})
    case "auditPassedOn":
      audited.passedOn(keeperMethods.auditPassedOn.params.parse(params).attempt)
      return ok({})
    case "live":
      return ok({ records: keeper.live.all().map(({ record }) => record) })
    case "find": {
      const { executionId } = keeperMethods.find.params.parse(params)
      return ok({ record: keeper.live.find(executionId)?.record ?? null })
    }
    case "follow": {
      const { executionId } = keeperMethods.follow.params.parse(params)
      const record = keeper.live.find(executionId)?.record ?? null
      if (record !== null) updates.follow(executionId)
      return ok({ record })
    }
    case "unfollow":
      updates.unfollow(keeperMethods.unfollow.params.parse(params).executionId)
      return ok({})
    case "watch":
      updates.watchAll(keeperMethods.watch.params.parse(params).on)
      return ok({})
    case "drivers":
      keeper.setDrivers(keeperMethods.drivers.params.parse(params))
      return ok({})
    case "condition":
      return ok({ obstacles: report.obstacles() })
    case "metrics":
      return ok({ metrics: report.metrics() })
  }
}
