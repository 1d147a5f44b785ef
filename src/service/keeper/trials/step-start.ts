import { createHash } from "node:crypto"
import { announcedStep, type StepRequest } from "../../../execution/trial/announced-step.ts"
import type { TrialPart, TrialStep } from "../../../execution/trial/announcement.ts"
import { checkArgv, markerVariable } from "../../../execution/trial/check-wrapper.ts"
import type { RecordedTrial } from "../../../execution/trial/recorded-trial.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { AgentOptions } from "../../../protocol/agent.ts"
import type { ExecuteParams } from "../../../protocol/execute.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { TrialPorts } from "./trial-ports.ts"

/** A step as it is to be started, and what its record says of it. */
export type StepStart = { request: ExecuteParams; part: TrialPart; marker: string | null }

/** What a request for a step starts: what was announced, and nothing else. */
export function stepStart(
  { announcement }: RecordedTrial,
  request: ExecuteParams,
  agent: AgentOptions | null,
  {
    store,
    journal,
    clock,
    newSecret,
  }: Pick<TrialPorts, "store" | "journal" | "clock" | "newSecret">,
  newMarker: (now: Date, random: string) => string,
): Result<StepStart, Failure> {
  const { trial: id, definition } = announcement
  const taken = new Map(
    store.steps(id).map(({ step, executionId }) => [step, stateOf(executionId)] as const),
  )
  const announced = announcedStep(definition, taken, stepRequest(request, agent))
  if (!announced.ok) {
    const message = `Trial ${id}: ${announced.failure}. Nothing was started.`
    return fail(failure("NOT_ANNOUNCED", message, { trial: id }))
  }
  const step = announced.value
  const part = { id, step: step.id, role: step.role }
  if (step.role === "act") return ok({ request: actRequest(request, step), part, marker: null })
  const marker = newMarker(clock.now(), newSecret())
  return ok({ request: checkRequest(request, step.run, step.cwd, marker), part, marker })

  function stateOf(executionId: string): "running" | "ended" {
    const record = journal.find(executionId)
    // One that is used again may have been removed since.
    return record === null || record.state.kind === "ended" ? "ended" : "running"
  }
}

function stepRequest(request: ExecuteParams, agent: AgentOptions | null): StepRequest {
  const { step, role, command, argv, cwd } = request
  const isGiven = {
    "environment variables": Object.keys(request.env ?? {}).length > 0,
    "standard input": request.stdin === "pipe",
    terminal: request.terminal !== undefined,
  }
  const besides = Object.entries(isGiven).flatMap(([what, given]) => (given ? [what] : []))
  if (agent === null) return { step, role, command, argv, cwd, session: null, besides }
  const { prompt, resume, model, permission_mode, args } = agent
  const session = {
    agent: agent.agent,
    prompt: prompt === undefined ? null : createHash("sha256").update(prompt).digest("hex"),
    model,
    permission_mode,
    args,
    resumes: resume !== undefined,
  }
  return { step, role, command: undefined, argv: undefined, cwd, session, besides }
}

function actRequest(request: ExecuteParams, act: TrialStep & { role: "act" }): ExecuteParams {
  const { command: _, argv: given, ...rest } = request
  const { cwd } = act
  if (act.command !== undefined) return { ...rest, command: act.command, cwd }
  const argv = act.argv ?? given
  return { ...rest, ...(argv === undefined ? {} : { argv }), cwd }
}

function checkRequest(
  request: ExecuteParams,
  run: string,
  cwd: string,
  marker: string,
): ExecuteParams {
  const { command: _, shell: __, ...rest } = request
  return { ...rest, argv: checkArgv(run), cwd, env: { [markerVariable]: marker } }
}
